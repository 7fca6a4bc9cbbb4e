package daemon

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// formsOfCanary are the forms in which a secret must be nowhere. Of base64 it is
// what stands in the middle whatever is around the secret.
func formsOfCanary(secret string) map[string]string {
	quoted, _ := json.Marshal(secret) // a text always can be
	forms := map[string]string{
		"raw": secret, "JSON": strings.Trim(string(quoted), `"`), "hex": hex.EncodeToString([]byte(secret)),
		"query": url.QueryEscape(secret), "path": url.PathEscape(secret),
	}
	backwards := []byte(secret)
	slices.Reverse(backwards)
	forms["reversed"] = string(backwards)
	for before := range 5 {
		std := base32.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + secret + "xxxxx"))
		forms["base32"+strings.Repeat("+", before)] = std[8 : len(std)-16]
	}
	for before := range 3 {
		std := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + secret))
		forms["base64"+strings.Repeat("+", before)] = std[4 : len(std)-4]
	}
	return forms
}

// noCanary fails when the secret of the variable CANARY is in any file below the
// given folders, in any form: `no-canary DIR...`.
func noCanary(ts *testscript.TestScript, neg bool, args []string) {
	secret := ts.Getenv("CANARY")
	looked := 0
	for _, dir := range args {
		eachFile(ts, dir, func(path string, text []byte) {
			looked++
			found := canaryIn(secret, text)
			if found != "" && !neg {
				ts.Fatalf("%s has the secret %s", path, found)
			} else if found == "" && neg {
				ts.Fatalf("%s does not have the secret: what is looked for would not be found", path)
			}
		})
	}
	if looked == 0 {
		ts.Fatalf("there is no file in %v", args)
	}
}

// eachFile reads every file below a folder.
func eachFile(ts *testscript.TestScript, dir string, do func(path string, text []byte)) {
	ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			do(path, text)
		}
		return err
	}))
}

// canaryIn says in which form a secret is in a text, with what is around it; empty
// when it is not.
func canaryIn(secret string, text []byte) string {
	for name, form := range formsOfCanary(secret) {
		if i := bytes.Index(text, []byte(form)); i >= 0 {
			return fmt.Sprintf("in its form %s: %q", name, text[max(0, i-80):min(len(text), i+len(form)+40)])
		}
	}
	return ""
}

// TestCanaryForms: what noCanary looks for is there where the secret is.
func TestCanaryForms(t *testing.T) {
	const secret = `canary/0123+"4567" 89<ab>cdef`
	for name, text := range map[string]string{
		"base64": base64.StdEncoding.EncodeToString([]byte("user:" + secret + "\n")), "JSON": `{"a":"canary/0123+\"4567\" 89\u003cab\u003ecdef"}`,
		"query": "?a=" + url.QueryEscape(secret), "raw": secret,
	} {
		found := false
		for _, form := range formsOfCanary(secret) {
			found = found || strings.Contains(text, form)
		}
		if !found {
			t.Errorf("%s is not found in %q", name, text)
		}
	}
}
