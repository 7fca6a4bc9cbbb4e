package finish

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// mostNamed is how many addresses a refusal names.
const mostNamed = 20

// proveCitations holds every address of a result to what was fetched: it is an argument of a call that succeeded and
// that reaches the network on the word of its plugin. What was searched for, or was to be fetched ahead, is no page that was read.
func proveCitations(w sdk.Work) []string {
	fetched := map[string]bool{}
	for _, d := range w.Done {
		if !d.Success || !d.OpenWorld || d.Plugin == sdk.OwnPlugin || d.Tool == sdk.SearchTool || d.Tool == sdk.PrefetchTool {
			continue
		}
		for _, text := range texts(decoded(d.Arguments), func(string) bool { return true }) {
			if at, ok := address(text); ok {
				fetched[at] = true
			}
		}
	}
	var missing []string
	for _, text := range cited(decoded(w.Result)) {
		at, ok := address(text)
		switch {
		case !ok:
			missing = append(missing, fmt.Sprintf("%.200q is no address of the web: cite what was fetched, or leave it out", text))
		case !fetched[at]:
			missing = append(missing, fmt.Sprintf("%.200s was not fetched: fetch it, or leave it out", text))
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if more := len(missing) - mostNamed; more > 0 {
		missing = append(missing[:mostNamed], fmt.Sprintf("and %d more like these", more))
	}
	return missing
}

// cited are the addresses that a result gives: all that is called url, and what of its citations is one.
func cited(result any) []string {
	all := texts(result, isURL)
	object, _ := result.(map[string]any)
	for _, text := range texts(object["citations"], func(string) bool { return true }) {
		if _, ok := address(text); ok {
			all = append(all, text)
		}
	}
	return all
}

// isURL reports whether a member's name says that it is an address.
func isURL(name string) bool {
	name = strings.ToLower(name)
	return name == "url" || name == "urls"
}

// texts are the texts of a value whose member's name is wanted, or that of a list that they stand in.
func texts(v any, wanted func(name string) bool) []string {
	var all []string
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case string:
			if wanted(name) {
				all = append(all, v)
			}
		case []any:
			for _, one := range v {
				walk(name, one)
			}
		case map[string]any:
			for _, member := range slices.Sorted(maps.Keys(v)) {
				walk(member, v[member])
			}
		}
	}
	walk("", v)
	return all
}

func decoded(text json.RawMessage) (v any) {
	if json.Unmarshal(text, &v) != nil { // then it holds no address
		return nil
	}
	return v
}

// address is an address of the web in one form, without what names a place within the page.
func address(text string) (string, bool) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" {
		return "", false
	}
	port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme] // which is read in lower case
	if port == "" {
		return "", false
	}
	u.Host = strings.TrimSuffix(strings.ToLower(u.Host), port)
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String(), true
}
