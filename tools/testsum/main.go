// Command testsum runs `go test -json`, shows failures and progress, and counts. A step runs one such command and
// keeps its counts in a file; the total reads such files and ends with the line `N passed, N failed, N skipped`.
//
//	testsum step -name NAME -into FILE -- go test -json ./...
//	testsum total [-into FILE] FILE...
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// errFailed ends the program with status 1; everything about it has been said already.
var errFailed = errors.New("tests failed")

func main() {
	err := run(os.Args[1:], os.Stdout)
	if err != nil {
		if !errors.Is(err, errFailed) {
			fmt.Fprintln(os.Stderr, "testsum:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "step":
			return step(args[1:], out)
		case "total":
			return total(args[1:], out)
		}
	}
	return errors.New("usage: testsum step -name NAME -into FILE -- COMMAND..., or testsum total [-into FILE] FILE")
}

// step runs a command that prints test events, and fails when a test or the command does.
func step(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("step", flag.ContinueOnError)
	name := flags.String("name", "tests", "what the step is called in its output")
	into := flags.String("into", "", "file that gets the counts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("step: no command given after --")
	}

	fmt.Fprintf(out, "== %s\n", *name)
	started := time.Now()
	cmd := exec.Command(flags.Arg(0), flags.Args()[1:]...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("step %s: %w", *name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("step %s: %w", *name, err)
	}
	tally := newTally(*name, out)
	readErr := tally.read(events, 30*time.Second)
	waitErr := cmd.Wait()
	if readErr != nil {
		return fmt.Errorf("step %s: %w", *name, readErr)
	}
	sum := tally.finish(waitErr)
	fmt.Fprintf(out, "== %s: %s, in %s\n", *name, sum.line(), time.Since(started).Round(time.Second))
	if *into != "" {
		if err := sum.save(*into); err != nil {
			return err
		}
	}
	if len(sum.Failed) > 0 {
		return errFailed
	}
	return nil
}

// total adds up what steps saved. With CI=true a skip whose reason begins with "sandbox:" counts as a failure,
// since a machine that is meant to test the sandbox and cannot is broken.
func total(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("total", flag.ContinueOnError)
	into := flags.String("into", "", "file that gets the sum")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var sums []summary
	for _, file := range flags.Args() {
		sum, err := load(file)
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	sum := add(sums)
	if *into != "" {
		if err := sum.save(*into); err != nil {
			return err
		}
	}
	if os.Getenv("CI") == "true" {
		sum = sum.strict()
	}
	sum.print(out)
	if len(sum.Failed) > 0 || sum.Passed == 0 {
		return errFailed
	}
	return nil
}
