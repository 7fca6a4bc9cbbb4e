package modelhttp

import (
	"net/http"
	"regexp"
	"strings"
)

// overflowTexts are how servers say that a prompt does not fit the model's
// context. The comment names who says so.
var overflowTexts = compile(
	`context_length_exceeded`,                           // OpenAI's code
	`exceeds the context window`,                        // OpenAI
	`maximum context length is`,                         // OpenAI, OpenRouter, vLLM, DeepSeek
	`longer than the (?:maximum model|model's context)`, // vLLM, SGLang
	`prompt is too long`,                                // Anthropic
	`max_tokens.? exceed context limit`,                 // Anthropic, with the room that the answer needs
	`prompt too long`,                                   // Ollama
	`input is too long for requested model`,             // Bedrock
	`input token count.{0,40}exceeds the maximum`,       // Gemini
	`maximum prompt length is \d+`,                      // xAI
	`reduce the length of the messages`,                 // Groq
	`exceeds the available context size`,                // llama.cpp
	`exceed_context_size_error`,                         // llama.cpp's type
	`greater than the context length`,                   // LM Studio
	`token count of \d+ exceeds the limit of \d+`,       // Copilot
	`context window exceeds limit`,                      // MiniMax
	`exceeded model token limit`,                        // Kimi
	`too large for model with \d+ maximum context`,      // Mistral
	`input length.{0,40}exceeds.{0,40}context length`,   // Ollama's runner
	`exceeded max(?:imum)? context length`,              // Ollama
	`tokens \+ .?max_new_tokens.? must be`,              // text-generation-inference
	`too many tokens`,                                   // generic
	`token limit exceeded`,                              // generic
	`context length exceeded`,                           // generic
)

// certain are the ones that mean overflow even with status 429.
var certain = compile(`context_length_exceeded`, `exceed_context_size_error`)

func compile(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)` + strings.Join(patterns, "|"))
}

// Overflow reports whether a failure says that the prompt is too long for the
// model. Words are the messages, codes and types of its body; empty says that
// there was no body at all, which with status 400 or 413 is how Cerebras says
// it. A 413 with words is a matter of bytes and no overflow by itself; a 429
// is one only by its code, for "too many tokens" there means too many a minute.
func Overflow(status int, words string, empty bool) bool {
	if empty {
		return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge
	}
	if status == http.StatusTooManyRequests || rateWords.MatchString(words) {
		return certain.MatchString(words)
	}
	return overflowTexts.MatchString(words)
}
