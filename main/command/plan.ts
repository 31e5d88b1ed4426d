/** What a model is given of the memory and why, in the page's words. */
import type { Service } from "../../app/contract/client.ts";
import type { Model } from "../../app/contract/model.ts";
import type { MemoryPlan } from "../../app/engine.ts";
import { planWords } from "../../app/plan.ts";

export function planLine({ name }: Model, plan: MemoryPlan): string {
  return `${name}: ${planWords(plan)}\n`;
}

/** Says it of each model that is loaded, once a load. */
export function tellPlans(service: Pick<Service, "subscribe">, say: (line: string) => void): void {
  const told = new Set<string>();
  service.subscribe((event) => {
    if (event.name !== "model.changed") return;
    const { id, state, plan } = event.payload;
    if (state !== "loaded" || plan === null) {
      told.delete(id);
      return;
    }
    if (told.has(id)) return;
    told.add(id);
    say(planLine(event.payload, plan));
  });
}
