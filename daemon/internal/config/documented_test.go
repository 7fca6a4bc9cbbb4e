package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/sdk"
)

// everyAttribute is all that can be written, by type of block.
func everyAttribute() map[string][]string {
	all := map[string][]string{}
	add := func(block string, of any) {
		schema, _ := gohcl.ImpliedBodySchema(of)
		for _, a := range schema.Attributes {
			all[block] = append(all[block], a.Name)
		}
	}
	for _, s := range settings {
		all[s.block] = append(all[s.block], s.name)
	}
	for block, decoded := range map[string]any{
		"plugin": Plugin{}, "limits": Limits{}, "quota": Quota{}, "answers": Answers{}, "confine": Confine{}, "agent": sdk.Agent{}, "team": teamBlock{},
		"finish": finishBlock{}, "model": Model{}, "price": sdk.Price{}, "rule": sdk.PolicyRule{}, "skill": SkillBlock{}, "person": sdk.Person{}, "workspace": workspaceBlock{}, "hosts": hostsBlock{}, "tests": sdk.ProjectTests{},
	} {
		add(block, decoded)
	}
	for _, a := range guardSchema.Attributes {
		all["agent"] = append(all["agent"], a.Name)
	}
	add("agent", inheriting{})
	all["provider"] = all["plugin"]
	all["mcp"] = []string{"command", "args", "env", "cwd", "url", "headers", "transport", "timeout", "tools", "confined", "enabled"}
	all["project"] = strings.Split(names(func(s setting) bool { return s.tag.Get("project") != "" }), ", ")
	return all
}

// TestEveryAttributeIsDocumented, in the annotated configuration and in a page
// below docs/, and so is every block.
func TestEveryAttributeIsDocumented(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(err)
	}
	var docs []byte
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, text...)
	}
	all := everyAttribute()
	for _, block := range blockTypes {
		if all[block] == nil {
			t.Errorf("the attributes of a %s block are not known here", block)
		}
	}
	for block, names := range all {
		for _, name := range names {
			assigned := regexp.MustCompile(`(?m)(^|[\s{` + "`" + `(.])` + name + `(\s*=|` + "`" + `)`)
			for where, text := range map[string][]byte{"config.hcl": bothy.DefaultConfig, "docs": docs} {
				if !assigned.Match(text) {
					t.Errorf("%s has nothing of %s of a %s block", where, name, block)
				}
			}
		}
		for where, text := range map[string][]byte{"config.hcl": bothy.DefaultConfig, "docs": docs} {
			if !regexp.MustCompile(`(?m)(^|[\s#` + "`" + `])` + block + `( "[^"]+")? \{|` + "`" + block + `[` + "`" + `.]`).Match(text) {
				t.Errorf("%s has no %s block", where, block)
			}
		}
	}
}
