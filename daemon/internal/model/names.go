package model

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// maxNamed bounds the models that an error names.
const maxNamed = 5

// dated is what follows the name of a model in the name of one of its editions:
// "-20250929" or "-2024-11-20".
var dated = regexp.MustCompile(`^-(\d{8}|\d{4}-\d{2}-\d{2})$`)

// find is the model of a name in a provider's list: that very name; else, for a
// name without a tag, the one with the tag ":latest"; else its newest edition,
// for Anthropic lists claude-sonnet-4-5-20250929 and takes claude-sonnet-4-5 and
// claude-sonnet-4-5-latest for it, which it does not list.
func find(list []sdk.Model, name string) (sdk.Model, bool) {
	for _, n := range []string{name, name + ":latest"} {
		if n != name && hasTag(name) {
			continue
		}
		if i := slices.IndexFunc(list, func(x sdk.Model) bool { return x.Name == n }); i >= 0 {
			return list[i], true
		}
	}
	var newest sdk.Model
	for _, x := range list {
		edition, ok := strings.CutPrefix(x.Name, strings.TrimSuffix(name, "-latest"))
		if ok && dated.MatchString(edition) && x.Name > newest.Name {
			newest = x
		}
	}
	return newest, newest.Name != ""
}

// hasTag reports whether a name says which of its models is meant: "qwen3:8b". A
// host's port is no tag.
func hasTag(name string) bool {
	return strings.Contains(name[strings.LastIndex(name, "/")+1:], ":")
}

// best is the model to take when nobody named one: the first of the provider's
// order that can call tools, else the first that does not say it cannot. Ollama's
// order has the smallest first. One that its server hands on to another machine is
// never it: nobody has said that this may be.
func best(list []sdk.Model) (sdk.Model, bool) {
	able := func(x sdk.Model) bool { return !x.Remote && x.Tools != nil && *x.Tools }
	silent := func(x sdk.Model) bool { return !x.Remote && x.Tools == nil }
	for _, fits := range []func(sdk.Model) bool{able, silent} {
		if i := slices.IndexFunc(list, fits); i >= 0 {
			return list[i], true
		}
	}
	return sdk.Model{}, false
}

// ableOf are the aliases of those that can call tools, in the provider's order.
func ableOf(label string, list []sdk.Model) (out []string) {
	for _, x := range list {
		if x.Tools != nil && *x.Tools {
			out = append(out, label+"/"+x.Name)
		}
	}
	return out
}

// lacks says that a provider whose list is not empty has no model of a name.
func lacks(label, name string, list []sdk.Model) string {
	return fmt.Sprintf("%s has no model %q; %s", label, name, others(label, name, list))
}

// others names what would do in the place of a model that a provider has not.
func others(label, name string, list []sdk.Model) string {
	text := fmt.Sprintf("the nearest is %s/%s", label, nearest(list, name))
	if able := ableOf(label, list); len(able) > 0 {
		text += "; those that can call tools: " + enumerate(able)
	}
	return text + "; `bothy models` lists all"
}

// cannotCall says that a model cannot call tools, and which of its provider can.
func cannotCall(label, name string, list []sdk.Model) string {
	text := "the model " + label + "/" + name + " cannot call tools; "
	if able := ableOf(label, list); len(able) > 0 {
		return text + "those of " + label + " that can: " + enumerate(able)
	}
	return text + "choose another (`bothy models` lists them), for instance qwen3 or llama3.1"
}

// nearest is the name with the fewest edits to one that somebody wrote; a tag
// that was not written costs none.
func nearest(list []sdk.Model, wrote string) string {
	fold := func(name string) string {
		if !hasTag(wrote) && hasTag(name) {
			name = name[:strings.LastIndex(name, ":")]
		}
		return strings.ToLower(name)
	}
	names := make([]string, 0, len(list))
	for _, x := range list {
		names = append(names, x.Name)
	}
	return sdk.Nearest(wrote, names, fold)
}

func enumerate(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
