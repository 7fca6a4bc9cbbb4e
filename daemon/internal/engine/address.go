package engine

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// goingOut says of a call that leaves this machine what policy cannot know of it: whether a secret stands in it, and
// where the address stands that it names.
func (e *Engine) goingOut(a *activeLoop, x *action, r *sdk.PolicyRequest) {
	if x.tool.Annotations.OpenWorld && e.cfg.Leaks != nil {
		r.Leaks = e.cfg.Leaks(r.Arguments)
	}
	if address := x.address(); address != "" && a.run.ID != 0 {
		r.AddressFrom = e.addressFrom(a.run.ID, address)
	}
}

// address is the one that a call names, as the model wrote it; empty where there is none.
func (x *action) address() string {
	var arguments map[string]any
	if x.tool.Address == "" || json.Unmarshal(x.meant(), &arguments) != nil {
		return ""
	}
	text, _ := arguments[x.tool.Address].(string)
	return text
}

// addressFrom finds an address where no model can have put it. What cannot be read does not vouch for it.
func (e *Engine) addressFrom(run int64, address string) sdk.AddressFrom {
	said := e.allSaid(run)
	if sdk.AddressStands(said, address) {
		return sdk.AddressOfPrompt
	}
	searches := e.searches()
	if len(searches) == 0 { // which spares a look through all that the run has
		return ""
	}
	found, err := e.cfg.Store.Entries(e.base, sdk.EntryQuery{Run: run, Pattern: "log://turn_*/*" + sdk.SearchTool + "/*"})
	if err != nil {
		e.log.Warn("where an address comes from is not known, because what searches found cannot be read", "run", run, "error", err)
		return ""
	}
	var from sdk.AddressFrom
	for _, entry := range found {
		switch search, is := foundBy(searches, entry, address); {
		case !is:
		case repeats(search, said, address):
			from = sdk.AddressOfQuery
		default:
			return sdk.AddressOfSearch
		}
	}
	return from
}

// searches are the plugins that are pinned and have a search of their own.
func (e *Engine) searches() (plugins []string) {
	for _, t := range e.cfg.Tools.Tools() {
		if t.Pinned && t.Source == "" && cmp.Or(t.Declared, t.Name) == sdk.SearchTool {
			plugins = append(plugins, t.Plugin)
		}
	}
	return plugins
}

// foundBy is the action of an entry, if it is a search of one of the plugins that found an address.
func foundBy(plugins []string, entry sdk.Entry, address string) (sdk.Action, bool) {
	done, err := sdk.ActionOf(entry)
	if err != nil || done.State != sdk.StateResolved || cmp.Or(done.Declared, done.Tool) != sdk.SearchTool {
		return done, false
	}
	var results sdk.SearchResults
	return done, slices.Contains(plugins, done.Plugin) && json.Unmarshal(done.Structured, &results) == nil &&
		slices.ContainsFunc(results.Results, func(r sdk.SearchResult) bool { return r.Address == address })
}

// repeats reports whether an address is made of what a search was for, as far as the person did not say that.
func repeats(search sdk.Action, said, address string) bool {
	var arguments map[string]any
	if json.Unmarshal(search.ExactArguments(), &arguments) != nil {
		return true
	}
	for _, value := range arguments {
		if text, is := value.(string); is && searchedFor(text, said).in(address) {
			return true
		}
	}
	return false
}
