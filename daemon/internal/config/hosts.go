package config

import (
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/bothyd/bothy/sdk"
)

// hostsBlock says which hosts are asked for without a question, and which never are. Of both deny goes first.
type hostsBlock struct {
	Allow []string `hcl:"allow,optional"`
	Deny  []string `hcl:"deny,optional"`
}

// hosts reads a hosts block as rules, of one project or, with an empty root, of all. prefix stands before the places
// of a workspace's, which only denies. It reports false when what the block denies is not known.
func (l *loader) hosts(body *hclsyntax.Body, prefix, root string) ([]sdk.PolicyRule, bool) {
	var block hostsBlock
	if !l.decode(body, &block) {
		return nil, false
	}
	if prefix != "" && len(block.Allow) > 0 {
		l.reportAt(attributeRange(body, "allow"), "Not for a workspace to say", "Which hosts are asked for without a question stands in your own configuration; the file of a project can only deny some.")
		block.Allow = nil
	}
	var rules []sdk.PolicyRule
	ok := true
	for _, list := range []struct {
		name    string
		verdict sdk.Verdict
		hosts   []string
	}{{"allow", sdk.Allow, block.Allow}, {"deny", sdk.Deny, block.Deny}} {
		if len(list.hosts) == 0 {
			continue
		}
		at := attributeRange(body, list.name)
		rule := sdk.PolicyRule{Name: "hosts." + list.name, Source: prefix + placeOf(at), Verdict: list.verdict, Hosts: list.hosts, Project: root}
		if l.checkHosts("hosts."+list.name, list.hosts, at) {
			rules = append(rules, rule)
		} else {
			ok = ok && list.verdict == sdk.Allow
		}
	}
	return rules, ok
}

// openHosts takes over the rules of a hosts block of the user's.
func (l *loader) openHosts(body *hclsyntax.Body, root string) {
	rules, _ := l.hosts(body, "", root)
	l.cfg.Rules = append(l.cfg.Rules, rules...)
}

var hostGlob = regexp.MustCompile(`^[a-z0-9*:]([a-z0-9.*:-]{0,251}[a-z0-9*:])?$`)

// checkHosts reports whether each of a list can be the host of an address.
func (l *loader) checkHosts(what string, hosts []string, at hcl.Range) bool {
	for _, host := range hosts {
		if !hostGlob.MatchString(host) {
			l.reportAt(at, "Wrong value", fmt.Sprintf("%s holds %q; write the name of a host in lower case and ASCII, without scheme, port and path, such as \"docs.example.org\" or \"*.example.org\".", what, host))
			return false
		}
	}
	return true
}
