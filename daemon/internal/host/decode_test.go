package host

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// body parses the inside of a block that begins in line 1.
func body(t testing.TB, text string) hcl.Body {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(text), "user.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return f.Body
}

// TestConfigured: the whole way of a block into a plugin, its secrets told to
// the redactor, its mistakes with their line.
func TestConfigured(t *testing.T) {
	var redacted []string
	good, wrong, refused := spec("good", ""), spec("wrong", ""), spec("refused", "")
	good.Body = body(t, "base_url = \"http://x\"\nkey = \"hidden-key\"\ntags = [\"c\"]")
	wrong.Body = body(t, "base_url = \"http://x\"\n\nkey = 7")
	refused.Body = body(t, "refuse = \"the server answers 401\"")
	r := newRig(t, func(c *Config) { c.Redact = func(v string) { redacted = append(redacted, v) } })
	found := r.start(context.Background(), []inspect.Spec{good, wrong, refused})
	var texts []string
	for _, d := range found {
		if !d.Warning() {
			texts = append(texts, fmt.Sprintf("%s %v %s: %s", d.Instance, d.Subject, d.Summary, d.Detail))
		}
	}
	if len(texts) != 2 || !strings.Contains(texts[0], "wrong user.hcl:3,7-8 Wrong value for key") || !strings.Contains(texts[1], "the server answers 401") {
		t.Errorf("diagnostics %q", texts)
	}
	res := r.mustCall(t, "good__about", ``)
	var about struct {
		Config struct {
			BaseURL string
			Key     string
			Retries int
			Tags    []string
		}
	}
	if err := json.Unmarshal(res.Structured, &about); err != nil {
		t.Fatal(err)
	}
	if c := about.Config; c.BaseURL != "http://x" || c.Key != "hidden-key" || c.Retries != 3 || len(c.Tags) != 1 || c.Tags[0] != "c" {
		t.Errorf("the plugin got %+v", c)
	}
	if len(redacted) != 1 || redacted[0] != "hidden-key" {
		t.Errorf("redacted %q", redacted)
	}
}
