/** What the operating system says of memory. One interface, so that other systems and recorded fixtures stand behind it alike. */
import { readFile } from "node:fs/promises";
import { freemem, totalmem } from "node:os";

export interface MachineMemory {
  /** Bytes that programs and the kernel hold and cannot give back at once. */
  used: number;
  total: number;
}

/** Room for later: the pools of an amdgpu device (VRAM, GTT) from sysfs are a further method here, with recorded trees as fixtures. */
export interface Machine {
  memory(): Promise<MachineMemory>;
  /** Resident bytes of a process, mapped weights included; null when it is gone or the system does not tell. */
  residentBytes(pid: number): Promise<number | null>;
}

export type ReadText = (path: string) => Promise<string>;

export function createMachine(platform: NodeJS.Platform, own: { pid: number; rss: () => number }): Machine {
  const linux = platform === "linux" ? createLinuxMachine((path) => readFile(path, "utf8")) : null;
  return {
    memory: linux?.memory ?? (async () => ({ used: totalmem() - freemem(), total: totalmem() })),
    async residentBytes(pid) {
      if (pid === own.pid) return own.rss();
      return linux === null ? null : linux.residentBytes(pid);
    },
  };
}

/** MemAvailable counts the page cache as free, which MemFree does not: a model that was read once does not fill the bar. */
export function createLinuxMachine(read: ReadText): Machine {
  return {
    async memory() {
      const text = await read("/proc/meminfo");
      const total = kilobytes(text, "MemTotal");
      const available = kilobytes(text, "MemAvailable");
      if (total === null || available === null) throw new Error("/proc/meminfo has no MemTotal or MemAvailable");
      return { used: total - available, total };
    },
    async residentBytes(pid) {
      try {
        return kilobytes(await read(`/proc/${pid}/status`), "VmRSS");
      } catch (error) {
        // It ended between being named and being asked.
        if (["ENOENT", "ESRCH"].includes(String(Reflect.get(Object(error), "code")))) return null;
        throw error;
      }
    },
  };
}

function kilobytes(text: string, name: string): number | null {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text);
  return match === null ? null : Number(match[1]) * 1024;
}
