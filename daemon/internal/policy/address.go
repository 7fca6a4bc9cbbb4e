package policy

import (
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/webguard"
)

// goesOut reports whether the call names an address that it asks, on the word of a pinned plugin.
func (j *judged) goesOut() bool { return j.tool.Address != "" && j.tool.Pinned && !j.Unwritten }

// readAddress reads the address that a call names, and refuses one that nobody could ask. One that is none of the
// web may be opened by the host that a rule of the configuration names; which port is the plugin's to say. To what a
// channel began nothing is open but the web.
func (j *judged) readAddress() (sdk.Decision, bool) {
	const instead = "name an address of the web that begins with https://, without a user or a password"
	text, ok := j.arguments[j.tool.Address].(string)
	if !ok {
		return deny(RuleBadArguments, "write "+j.tool.Address+" as a text", "%s of %q is no text, so that nobody can say where it goes", j.tool.Address, j.tool.Name), true
	}
	origin, err := webguard.Origin(text)
	if err != nil {
		return deny(RuleAddress, instead, "%v", err), true
	}
	u, err := url.Parse(origin)
	if err != nil {
		return deny(RuleBadArguments, instead, "%s of %q is no address", j.tool.Address, j.tool.Name), true
	}
	j.host = u.Hostname()
	var ports []uint16
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil && !j.Private {
		ports = []uint16{uint16(n)}
	}
	var refused *webguard.Refusal
	if _, err := (webguard.Options{Ports: ports}).Judge(text); errors.As(err, &refused) {
		j.near = refused.Reason
	}
	return sdk.Decision{}, false
}

// isHost reports whether one of the globs names the host of the call's address.
func (j *judged) isHost(globs []string) bool {
	return j.host != "" && slices.ContainsFunc(globs, func(glob string) bool { return fits(glob, j.host) })
}

// lets reports whether a rule may allow the address of the call at all. In interactive mode a person agrees to each, and
// what is none of the web only the configuration opens, by its host.
func (j *judged) lets(r *sdk.PolicyRule) bool {
	switch {
	case j.host == "":
		return true
	case j.near != "":
		return slices.Contains(r.Hosts, j.host) && r.Source != SourceRemembered && !j.Private
	}
	return len(r.Hosts) == 0 || j.Mode != sdk.ModeInteractive
}

// notHosts are the hosts to which no redirect takes the call unasked: those that a rule denies or asks about.
func (p *Policy) notHosts(j *judged) (globs []string) {
	for i := range p.set.Rules {
		if r := &p.set.Rules[i]; r.Verdict != sdk.Allow && len(r.Hosts) > 0 && j.holdsElsewhere(r) && j.catches(r) {
			globs = append(globs, r.Hosts...)
		}
	}
	return globs
}

// byAddress decides about a call by where it goes. What a model wrote into an address leaves this machine with it, so
// that only one that it cannot have written passes by itself.
func (j *judged) byAddress() sdk.Decision {
	const instead = "ask for an address that the person or a search named, or do without it"
	switch {
	case j.near != "":
		return deny(RuleAddress, "name an address of the web", "%s", j.near)
	case j.Mode == sdk.ModeInteractive:
		return j.ask(propose(RuleAddress, instead, "%q asks %s, and in interactive mode a person agrees to that", j.tool.Name, j.host))
	case j.AddressFrom == sdk.AddressOfPrompt:
		return builtIn(sdk.Allow, RuleAddress, "the address stands in a prompt of the person")
	case j.AddressFrom == sdk.AddressOfSearch:
		return builtIn(sdk.Allow, RuleAddress, "the address stands in what a search of this run found")
	case j.AddressFrom == sdk.AddressOfQuery && j.Mode != sdk.ModeFull:
		return j.ask(propose(RuleAddress, "search in other words than those of the address, or do without the page",
			"the address at %s that %q asks was found, and repeats what the model searched for", j.host, j.tool.Name))
	}
	return j.unvouched(RuleAddress, "the model itself wrote the address at %s that %q asks", j.host, j.tool.Name)
}
