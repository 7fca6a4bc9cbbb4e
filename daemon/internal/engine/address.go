package engine

import (
	"cmp"
	"encoding/json"

	"github.com/bothyd/bothy/daemon/internal/searched"
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
	found, err := e.cfg.Store.Entries(e.base, sdk.EntryQuery{Run: run, Pattern: "log://turn_*/*" + sdk.ToolSearch + "/*"})
	if err != nil {
		e.log.Warn("where an address comes from is not known, because what searches found cannot be read", "run", run, "error", err)
		return ""
	}
	var from sdk.AddressFrom
	for _, entry := range found {
		switch search, is := searched.Found(searches, entry, address); {
		case !is:
		case searched.Repeats(search, said, address):
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
