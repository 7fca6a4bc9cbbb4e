package daemon

import (
	"os"
	"strings"
	"testing"
)

// TestRealModel asks the model that BOTHY_TEST_MODEL names, such as ollama/qwen3:8b: whether
// it answers, calls a tool by itself, and goes on in the same run. Keys are taken from the
// environment. What it says is its own affair, so that little is compared.
func TestRealModel(t *testing.T) {
	name := os.Getenv("BOTHY_TEST_MODEL")
	if name == "" {
		t.Skip("model: BOTHY_TEST_MODEL names no real model")
	}
	p := newPlace(t)
	p.write(t, ".config/bothy/config.hcl", "plugin \"bash\" {\n  enabled = false\n}\n")
	p.write(t, "project/word.txt", "the word is marmalade\n")
	for _, v := range os.Environ() {
		if key, _, _ := strings.Cut(v, "="); strings.HasSuffix(key, "_API_KEY") || key == "OLLAMA_HOST" || strings.HasSuffix(key, "_BASE_URL") {
			p.env = append(p.env, v)
		}
	}
	t.Cleanup(func() { _, _ = p.bothy("stop", "--now") })
	for _, step := range []struct{ prompt, says string }{
		{"Answer with the single word hello.", "hello"},
		{"Read the file word.txt with a tool and tell me the word in it.", "marmalade"},
		{"Which word did you read? Answer without a tool.", "marmalade"},
	} {
		out, err := p.bothy("run", "-m", name, "-r", "real", step.prompt)
		if err != nil || !strings.Contains(strings.ToLower(out), step.says) {
			t.Errorf("%s: %v: %s", step.prompt, err, out)
		}
	}
}
