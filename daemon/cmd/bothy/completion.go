package main

import (
	_ "embed"
	"io"
)

// The scripts hand the words of the line to `bothy __complete SHELL WORD...`
// and show what that prints: one candidate a line, a tab, and what it is. A line
// :files or :dirs asks for the shell's own completion of paths.
var (
	//go:embed completion.bash
	completionBash string
	//go:embed completion.zsh
	completionZsh string
	//go:embed completion.fish
	completionFish string
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help adds to the verb's help.
func (completionCmd) Help() string {
	return `It prints a script that completes verbs and flags and, when a daemon runs, the names of runs, agents, models and tools. make install puts the scripts where the shells look. Without that:

    bash  echo 'source <(bothy completion bash)' >>~/.bashrc
    zsh   bothy completion zsh >"${fpath[1]}/_bothy"
    fish  bothy completion fish >~/.config/fish/completions/bothy.fish
`
}

// Run prints the script for a shell.
func (cmd completionCmd) Run(c *console) error {
	if err := c.noJSON("a script for a shell"); err != nil {
		return err
	}
	script := map[string]string{"bash": completionBash, "zsh": completionZsh, "fish": completionFish}[cmd.Shell]
	_, err := io.WriteString(c.out, script)
	return err
}
