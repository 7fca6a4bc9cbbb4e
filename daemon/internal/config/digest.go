package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// digest sums up what a plugin's process is given by its block. Comments,
// layout and the place in the file are not part of it; what env(), file() and
// secret() came to is. Label, enabled, on_use and model are left out: they concern the
// daemon alone.
func (l *loader) digest(p Plugin) string {
	sum := sha256.New()
	add := func(name string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte(err.Error()) // of no type that is summed up here
		}
		fmt.Fprintf(sum, "%s %d %s\n", name, len(text), text)
	}
	attrs, wrong := p.Body.JustAttributes()
	p.Label, p.Enabled, p.OnUse, p.Model, p.Body, p.Range = "", false, false, "", nil, hcl.Range{}
	add("block", p)

	// What is no attribute is a mistake, which counts as well: mending it is a change.
	for _, d := range wrong {
		add("mistake", d.Summary+": "+d.Detail)
	}
	for _, name := range p.Secrets {
		add("secret", l.keySum(name))
	}
	eval := l.digestContext()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		add("attribute "+name, valueText(attrs[name].Expr, eval))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// valueText is what an expression comes to, or why it comes to nothing.
func valueText(expr hcl.Expression, eval *hcl.EvalContext) string {
	v, diags := expr.Value(eval)
	if diags.HasErrors() {
		return "mistake: " + diags[0].Summary + ": " + diags[0].Detail
	}
	v, _ = v.UnmarkDeep()
	text, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return "no value: " + err.Error()
	}
	return v.Type().GoString() + " " + string(text)
}

// digestContext evaluates as Config.Context does, except that a secret counts by
// its name and a sum of what it is now. One that is missing is told of when it is used.
func (l *loader) digestContext() *hcl.EvalContext {
	return withSecret(l.cfg.Context, func(name string) (string, error) {
		if _, err := l.src.Keys.Find(name); err != nil {
			return "", fmt.Errorf("%s is not set", name) // whatever the reason is today
		}
		return l.keySum(name), nil
	})
}

// keySum is another text for another value of a secret, and for none.
func (l *loader) keySum(name string) string {
	value, _ := l.src.Keys.Find(name) // none is a value here
	sum := sha256.Sum256([]byte(value))
	return name + " " + hex.EncodeToString(sum[:])
}
