package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk/conformance"
)

// The exit codes of the sub-command test.
const (
	exitFailed = 1
	exitUsage  = 2
)

// test starts this binary as the daemon does and says whether it keeps to the
// plugin protocol.
func test(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet(filepath.Base(os.Args[0])+" test", flag.ContinueOnError)
	f.SetOutput(stderr)
	call := f.Bool("call", false, "call also what may have effects: tools that are not read-only, skills, models")
	asJSON := f.Bool("json", false, "print JSON")
	settings := f.String("settings", "", "attributes of its block as a `JSON` object; the others take their defaults")
	var env []string
	f.Func("env", "a variable of its block's env, `NAME=VALUE`; may be given again", func(text string) error {
		if name, _, is := strings.Cut(text, "="); !is || name == "" {
			return errors.New("write NAME=VALUE")
		}
		env = append(env, text)
		return nil
	})
	seed := rand.Uint64N(1 << 32)
	f.Func("seed", "repeat a test that printed the seed `N`: which requests look as if a later daemon sent them", func(text string) (err error) {
		seed, err = strconv.ParseUint(text, 10, 64)
		return err
	})
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	case *settings != "" && !json.Valid([]byte(*settings)):
		fmt.Fprintln(stderr, "test: --settings is no JSON: write an object, as in --settings '{\"base_url\": \"http://127.0.0.1\"}'")
		return exitUsage
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(stderr, "test:", err)
		return exitFailed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	passed, err := conformance.Write(ctx, conformance.Options{
		Path: self, Args: f.Args(), Env: env, Config: json.RawMessage(*settings), Call: *call, Seed: seed,
	}, stdout, *asJSON)
	if err != nil {
		fmt.Fprintln(stderr, "test:", err)
		return exitFailed
	}
	if !passed {
		return exitFailed
	}
	return 0
}
