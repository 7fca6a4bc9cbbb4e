package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// tellUntrusted says that a project brought skills or agents which nobody trusted: once, and again
// when there is another one or one is another by now. A daemon that does not answer is told
// of by what comes next.
func (c *console) tellUntrusted(ctx context.Context, cl *client.Client, project string) {
	found, err := cl.Skills(ctx, rpc.SkillQuery{Project: project, Status: sdk.SkillUntrusted})
	if err != nil {
		return
	}
	agents, err := cl.Agents(ctx, rpc.AgentsParams{Project: project, Untrusted: true})
	if err != nil {
		return
	}
	agents = slices.DeleteFunc(agents, func(a rpc.Agent) bool { return !a.Untrusted })
	if len(found.Skills)+len(agents) == 0 || c.toldOf(project, found.Skills, agents) {
		return
	}
	var what []string
	if n := len(found.Skills); n > 0 {
		what = append(what, show.Plural(n, "skill"))
	}
	if n := len(agents); n > 0 {
		what = append(what, show.Plural(n, "agent"))
	}
	are, them := "are", "them"
	if len(found.Skills)+len(agents) == 1 {
		are, them = "is", "it"
	}
	c.say("%s of this project %s not trusted: `bothy trust` shows %s", strings.Join(what, " and "), are, them)
}

// toldOf reports whether a person was told of just these skills and agents of a project, and notes
// that they are now, in the folder told of the state. What cannot be noted is told again.
func (c *console) toldOf(project string, skills []sdk.Skill, agents []rpc.Agent) bool {
	state, err := rpc.StateDir(c.env)
	if err != nil {
		return false
	}
	var text strings.Builder
	for _, s := range skills {
		text.WriteString(s.Name + " " + s.Hash + "\n")
	}
	for _, a := range agents {
		text.WriteString("agent " + a.Name + " " + a.Digest + "\n")
	}
	sum := sha256.Sum256([]byte(project))
	file := filepath.Join(state, "told", hex.EncodeToString(sum[:]))
	if was, err := os.ReadFile(file); err == nil && string(was) == text.String() {
		return true
	}
	if os.MkdirAll(filepath.Dir(file), 0o700) == nil {
		_ = os.WriteFile(file, []byte(text.String()), 0o600) // else it is told again
	}
	return false
}
