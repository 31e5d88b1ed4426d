/**
 * Writes the blocks of a message so that a reply which grows costs what was added. What was written last is remembered per streaming message;
 * a message that is finished is put together into one piece per block.
 */
import type { Block } from "../../app/contract/message.ts";
import type { Database } from "./database.ts";

interface Written {
  number: number;
  type: Block["type"];
  attributes: string;
  text: string;
  pieces: number;
}

export interface BlockWriter {
  /** Inside the caller's transaction; after a rollback call `forget`. */
  write(messageNumber: number, blocks: Block[], finished: boolean): void;
  forget(messageNumber: number): void;
}

export function createBlockWriter(database: Database): BlockWriter {
  const readBlocks = database.prepare<[number], { number: number; type: Block["type"]; attributes: string }>(
    "SELECT number, type, attributes FROM block WHERE message = ? ORDER BY position",
  );
  const readPieces = database.prepare<[number], { text: string }>(
    "SELECT text FROM piece WHERE block = ? ORDER BY number",
  );
  const addBlock = database.prepare<[number, number, string, string]>(
    "INSERT INTO block (message, position, type, attributes) VALUES (?, ?, ?, ?)",
  );
  const setAttributes = database.prepare<[string, number]>("UPDATE block SET attributes = ? WHERE number = ?");
  const removeBlocks = database.prepare<[number, number]>("DELETE FROM block WHERE message = ? AND position >= ?");
  const addPiece = database.prepare<[number, string]>("INSERT INTO piece (block, text) VALUES (?, ?)");
  const removePieces = database.prepare<[number]>("DELETE FROM piece WHERE block = ?");
  const memory = new Map<number, Written[]>();

  function load(messageNumber: number): Written[] {
    return readBlocks.all(messageNumber).map((block) => {
      const pieces = readPieces.all(block.number).map((piece) => piece.text);
      return { ...block, text: pieces.join(""), pieces: pieces.length };
    });
  }

  function replaceText(block: Written, text: string): void {
    removePieces.run(block.number);
    if (text !== "") addPiece.run(block.number, text);
    block.text = text;
    block.pieces = text === "" ? 0 : 1;
  }

  function writeBlock(block: Written, next: Block, finished: boolean): void {
    const attributes = attributesOf(next);
    if (attributes !== block.attributes) {
      setAttributes.run(attributes, block.number);
      block.attributes = attributes;
    }
    const text = finished ? next.text : withoutHalfPair(next.text);
    if (!text.startsWith(block.text) || (finished && block.pieces > 1)) {
      replaceText(block, text);
    } else if (text.length > block.text.length) {
      addPiece.run(block.number, text.slice(block.text.length));
      block.text = text;
      block.pieces += 1;
    }
  }

  return {
    write(messageNumber, blocks, finished) {
      const written = memory.get(messageNumber) ?? load(messageNumber);
      const same = blocks.findIndex((block, position) => written[position]?.type !== block.type);
      const kept = same === -1 ? blocks.length : same;
      if (written.length > kept) {
        removeBlocks.run(messageNumber, kept);
        written.length = kept;
      }
      blocks.forEach((block, position) => {
        let target = written[position];
        if (target === undefined) {
          const attributes = attributesOf(block);
          const number = Number(addBlock.run(messageNumber, position, block.type, attributes).lastInsertRowid);
          target = { number, type: block.type, attributes, text: "", pieces: 0 };
          written.push(target);
        }
        writeBlock(target, block, finished);
      });
      if (finished) memory.delete(messageNumber);
      else memory.set(messageNumber, written);
    },
    forget: (messageNumber) => void memory.delete(messageNumber),
  };
}

function attributesOf(block: Block): string {
  if (block.type === "text") return "{}";
  return JSON.stringify({ finished: block.finished, milliseconds: block.milliseconds, tokens: block.tokens });
}

/** A surrogate pair that was cut in the middle waits for its other half: alone it would be stored as a replacement mark. */
function withoutHalfPair(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
