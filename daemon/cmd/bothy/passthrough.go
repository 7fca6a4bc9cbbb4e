package main

import (
	"context"
	"fmt"
	"os/exec"
	"os/signal"
	"reflect"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
)

// offline is a verb that needs no daemon: a process of bothyd does it, with the
// same flags.
type offline[T any] struct {
	Flags T `embed:""`
}

// Help is that of the flags.
func (o offline[T]) Help() string {
	if provider, ok := any(o.Flags).(kong.HelpProvider); ok {
		return provider.Help()
	}
	return ""
}

// Run ends as bothyd ends.
func (offline[T]) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	return c.passThrough(ctx, commandLine(parsed.Selected())...)
}

// commandLine writes a verb that was parsed as words again.
func commandLine(verb *kong.Node) []string {
	words := verbWords(verb)
	for _, flag := range verb.Flags {
		name := "--" + flag.Name + "="
		if set := valueWords(name, flag.Target); flag.Set && !slices.Equal(set, []string{name + flag.Default}) {
			words = append(words, set...)
		}
	}
	if len(verb.Positional) > 0 {
		words = append(words, "--") // behind it nothing is taken for a flag
	}
	for _, argument := range verb.Positional {
		if argument.Set {
			words = append(words, valueWords("", argument.Target)...)
		}
	}
	return words
}

// valueWords writes a value behind a prefix; a list is a word for each element.
func valueWords(prefix string, v reflect.Value) (words []string) {
	if v.Kind() != reflect.Slice {
		return []string{prefix + fmt.Sprint(reflect.Indirect(v))}
	}
	for i := range v.Len() {
		words = append(words, prefix+fmt.Sprint(v.Index(i)))
	}
	return words
}

// passThrough runs bothyd for a verb that needs no daemon and ends as it ends.
func (c *console) passThrough(ctx context.Context, args ...string) error {
	path, err := c.daemon().Program()
	if err != nil {
		return err
	}
	if c.json {
		args = append([]string{"--json"}, args...)
	}
	_, restore := c.interrupts() // Ctrl-C reaches both: bothyd says how it ends
	defer restore()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Args[0] = "bothy" // as errors begin, which are shown as they come
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Dir, cmd.Env = c.dir, c.environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, c.out, c.err
	err = cmd.Run()
	if ended := cmd.ProcessState; ended != nil && ended.ExitCode() > 0 {
		return exitError{code: ended.ExitCode()}
	} else if ended != nil && ended.Success() {
		return nil // it was told to end, perhaps, and did
	}
	return fmt.Errorf("%s: %w", path, err)
}
