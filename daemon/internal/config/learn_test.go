package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLearnSecrets: values are known before anybody has used them, wherever a
// file names them.
func TestLearnSecrets(t *testing.T) {
	var secrets Secrets
	text := `
provider "p" {
  plugin  = "openai"
  api_key = secret("PLAIN")
  headers = { "x-key" = "Bearer ${secret("NESTED")}" }
}
plugin "q" {
  secrets = ["GRANTED"]
  token   = secret(env("WHICH", "INDIRECT"))
  missing = secret("MISSING")
  other   = secret("DEFAULTED", "")
}
`
	values := map[string]string{"PLAIN": "value-of-plain", "NESTED": "value-of-nested", "GRANTED": "value-of-granted", "INDIRECT": "value-of-indirect", "DEFAULTED": "value-of-defaulted"}
	path := filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, diags := loadFrom(Source{Path: path, Required: true, Secrets: &secrets, Getenv: func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}})
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	cfg.LearnSecrets()
	for name, value := range values {
		if got := secrets.Redact("it is " + value); strings.Contains(got, value) {
			t.Errorf("the secret %s is not known", name)
		}
	}
}
