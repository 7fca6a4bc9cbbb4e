package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// shellArgv is the value of sdk.Sandbox.Shell with which no shell reads commands.
const shellArgv = "argv"

// shell begins every command line: no file of the home or the image is read
// before it, so that what was approved is all that runs.
var shell = []string{"bash", "--noprofile", "--norc", "-c"}

// words is a bash that runs its arguments as one simple command and reads none
// of them as a command line.
var words = append(slices.Clone(shell), `"$@"`, "bash")

// line is the command line as it was written, byte for byte. One that begins
// like an option would be taken for one.
func line(command string) []string {
	argv := slices.Clone(shell)
	if strings.HasPrefix(command, "-") || strings.HasPrefix(command, "+") {
		argv = append(argv, "--")
	}
	return append(argv, command)
}

// ways are the forms in which a call can be started, in order: the next one is
// for when the program of the one before cannot be. What policy proved to be one
// simple command needs no shell; bash is given its words where it has the command
// itself, and where only it can say what is wrong with the program.
func ways(command string, argv []string, shell string) ([][]string, error) {
	switch {
	case shell == shellArgv && len(argv) == 0:
		return nil, sdk.Errorf(sdk.Permission, `command lines are not read by a shell here (sandbox.shell = "argv"): give one program with its arguments, and no pipes, redirections, variables, wildcards or several commands`)
	case shell == shellArgv:
		return [][]string{argv}, nil
	case len(argv) == 0:
		return [][]string{line(command)}, nil
	}
	byBash := slices.Concat(words, argv)
	if isBuiltin(argv[0]) {
		return [][]string{byBash}, nil
	}
	return [][]string{argv, byBash}, nil
}

// notStarted is what a shell would have said of a program that cannot be
// started, for when there is none: 127, with the reason.
func notStarted(argv []string, out *output, err error) sandbox.Result {
	out.add(2, fmt.Appendf(nil, "%s: %v\n", argv[0], err))
	return sandbox.Result{ExitCode: 127}
}

// builtins are the commands that bash has itself. Some are programs as well,
// which differ.
const builtins = " . : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown " +
	"echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf " +
	"pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask " +
	"unalias unset wait "

func isBuiltin(name string) bool {
	return !strings.Contains(name, " ") && strings.Contains(builtins, " "+name+" ")
}
