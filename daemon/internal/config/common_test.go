package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Secrets is a Registry that knows a value only as it is written itself.
type Secrets struct {
	mu     sync.RWMutex
	values []string
}

// shortest is the length below which a value is no secret but a coincidence.
const shortest = 6

// Name implements Registry.
func (s *Secrets) Name(_, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(value) >= shortest {
		s.values = append(s.values, value)
	}
}

// Redact implements Registry.
func (s *Secrets) Redact(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, v := range s.values {
		text = strings.ReplaceAll(text, v, "[secret]")
	}
	return text
}

// writeFile makes a file and its folders.
func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// hclExpr is an expression of a text.
func hclExpr(t testing.TB, text string) hcl.Expression {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return expr
}

// setSkill is the text with one skill block edited, and setPlugin with that of a plugin.
func setSkill(text []byte, path, name string, enabled bool) ([]byte, error) {
	return setBlock(text, path, "skill", name, attributesOf(SkillBlock{Enabled: &enabled}), false)
}

func setPlugin(text []byte, path string, e PluginEdit) ([]byte, error) {
	return setBlock(text, path, e.Kind, e.Label, e.attributes(), false)
}
func ctyStrings(list ...string) []cty.Value {
	var out []cty.Value
	for _, s := range list {
		out = append(out, cty.StringVal(s))
	}
	return out
}

// environmentKeys are those of the environment alone.
type environmentKeys func(string) (string, bool)

func (environmentKeys) Expect([]string) {}

func (e environmentKeys) Find(name string) (string, error) {
	if v, _ := e(name); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("the secret %s is not set: export %s", name, name)
}

func (e environmentKeys) Place(name string) string {
	if v, _ := e(name); v != "" {
		return "in the environment"
	}
	return ""
}

// loadFrom is Load with the keys of the environment, where there are no others.
func loadFrom(src Source) (*Config, Diagnostics) {
	if src.Keys == nil {
		src.Keys = environmentKeys(src.Getenv)
	}
	return Load(src)
}
