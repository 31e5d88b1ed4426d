// Twenty prompts of different kinds: chats as the model's template writes them, and plain text, code, numbers and other scripts.
const system = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n";
const chat = (...turns) =>
  `${system}${turns.map((text, i) => `<|im_start|>${i % 2 === 0 ? "user" : "assistant"}\n${text}<|im_end|>\n`).join("")}<|im_start|>assistant\n`;

export const prompts = [
  { name: "fruits", text: chat("List three fruits.") },
  { name: "capital", text: chat("What is the capital of France?") },
  { name: "rainbow", text: chat("Explain in two sentences why there are rainbows.") },
  { name: "poem", text: chat("Write a short poem about the sea.") },
  { name: "follow-up", text: chat("Name a planet.", "Mars.", "And a bigger one?") },
  { name: "translate", text: chat("Translate to German: Good morning, my friend.") },
  { name: "sum", text: chat("What is 17 + 25? Think step by step.") },
  { name: "code-chat", text: chat("Write a Python function that reverses a string.") },
  { name: "french", text: chat("Décris un chat en une phrase.") },
  { name: "json", text: chat('Give me a JSON object with the keys "name" and "age".') },
  { name: "story", text: "Once upon a time, in a village by the river, there lived" },
  { name: "physics", text: "The second law of thermodynamics states that" },
  { name: "python", text: "def fibonacci(n):\n    " },
  { name: "javascript", text: "// Returns the largest number of the list\nfunction largest(list) {\n" },
  { name: "numbers", text: "1, 2, 3, 5, 8, 13," },
  { name: "recipe", text: "Ingredients for pancakes:\n- " },
  { name: "history", text: "In 1969, the Apollo 11 mission" },
  { name: "markdown", text: "# How to brew coffee\n\n## Steps\n\n1. " },
  { name: "japanese", text: "日本の首都は" },
  { name: "one-token", text: "The" },
];
