package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sandbox/toolchain"
	"github.com/bothyd/bothy/sdk/protect"
)

// tools are what commands may use of the person's home.
func tools(search []string) toolchain.Found {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return toolchain.Find(home, search, protect.Secret)
}

// withIdentity is a configuration with who git says wrote something, as the person's own
// configuration of git has it. What cannot be asked is left out: git in the container
// says then what it lacks.
func withIdentity(ctx context.Context, cfg sandbox.Config) sandbox.Config {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "config", "--global", "--includes", "--null", "--get-regexp", `^user\.(name|email)$`).Output()
	if err == nil {
		cfg.Identity = identity(out)
	}
	return cfg
}

// identity reads what git config prints: a name, a line's end and a value, each ended by
// a NUL; git-config(1). The last of each counts.
func identity(out []byte) (who sandbox.Identity) {
	for pair := range bytes.SplitSeq(out, []byte{0}) {
		name, value, _ := bytes.Cut(pair, []byte("\n"))
		switch string(name) {
		case "user.name":
			who.Name = string(value)
		case "user.email":
			who.Email = string(value)
		}
	}
	return who
}
