package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// tellUntrusted says that a project brought skills which nobody trusted: once, and again
// when there is another one or one is another by now. A daemon that does not answer is told
// of by what comes next.
func (c *console) tellUntrusted(ctx context.Context, cl *client.Client, project string) {
	found, err := cl.Skills(ctx, rpc.SkillQuery{Project: project, Status: sdk.SkillUntrusted})
	if err != nil || len(found.Skills) == 0 || c.toldOf(project, found.Skills) {
		return
	}
	if n := len(found.Skills); n > 1 {
		c.say("%d skills of this project are not trusted: `bothy trust` shows them", n)
		return
	}
	c.say("1 skill of this project is not trusted: `bothy trust` shows it")
}

// toldOf reports whether a person was told of just these skills of a project, and notes that
// they are now, in the folder told of the state. What cannot be noted is told again.
func (c *console) toldOf(project string, skills []sdk.Skill) bool {
	state, err := rpc.StateDir(c.env)
	if err != nil {
		return false
	}
	var text strings.Builder
	for _, s := range skills {
		text.WriteString(s.Name + " " + s.Hash + "\n")
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
