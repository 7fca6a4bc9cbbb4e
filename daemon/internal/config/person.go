package config

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/sdk"
)

// personMistake is what is wrong with the label of a person block, or empty.
func personMistake(label string) string {
	channel, id, both := strings.Cut(label, "/")
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if !both || !labelPattern.MatchString(channel) || id == "" || len(id) > 128 || strings.ContainsFunc(id, hidden) {
		return "A person block is named by the channel's plugin block and by what the service calls them, such as person \"telegram/12345\": the same name elsewhere is somebody else."
	}
	return ""
}

// person reads a person whose prompts a channel may bring.
func (l *loader) person(b *block) {
	channel, id, _ := strings.Cut(b.label, "/")
	p := sdk.Person{ID: sdk.PersonID(channel, id)}
	if !l.decode(b.body, &p) {
		return
	}
	if !labelled(l.cfg.Plugins, channel) {
		l.reportAt(b.at, "Unknown plugin", fmt.Sprintf("person %q is of the plugin %q, and there is no such block; there are the plugins %v.", b.label, channel, l.labels("plugin")))
	}
	if l.says(b.body, "owner") {
		l.oneOf(b.body, "owner", p.Owner, sdk.LocalOwner)
	}
	if p.Agent != "" && !labelPattern.MatchString(p.Agent) {
		l.wrong(b.body, "agent", "agent is %q, which is no name of an agent.", p.Agent)
	}
	l.cfg.People[p.ID] = p
}

// AddPerson writes a person block of a label, such as telegram/12345, into the file at path, behind all that is there. A
// label that a block has already is an error of outcome conflict.
func AddPerson(path, label string, says sdk.Person) error {
	_, err := putBlock(path, "person", label, attributesOf(says), true)
	return err
}
