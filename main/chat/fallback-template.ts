/** For files without a chat template: the plainest form that the vocabulary allows, and a notice that it is ours. */

export interface FallbackTemplate {
  source: string;
  /** What ends a reply when no token does. */
  stops: string[];
  notice: string;
}

const chatMarkup = `{%- for message in messages -%}
<|im_start|>{{ message.role }}{{ "\\n" }}{{ message.content }}<|im_end|>{{ "\\n" }}
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant{{ "\\n" }}{%- endif -%}`;

const plainText = `{{ bos_token }}
{%- for message in messages -%}
{%- if message.role == "system" -%}{{ message.content }}{{ "\\n\\n" }}
{%- else -%}{{ "User" if message.role == "user" else "Assistant" }}: {{ message.content }}{{ "\\n\\n" }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}Assistant:{%- endif -%}`;

export function fallbackTemplate(isToken: (text: string) => boolean): FallbackTemplate {
  if (isToken("<|im_start|>") && isToken("<|im_end|>")) {
    return {
      source: chatMarkup,
      stops: [],
      notice:
        "This model file has no chat template; ChatML is used, which its vocabulary knows. Answers may be worse for it.",
    };
  }
  return {
    source: plainText,
    stops: ["\nUser:", "\nAssistant:"],
    notice:
      "This model file has no chat template; a plain dialogue is used. It may be a base model, which completes text and does not chat.",
  };
}
