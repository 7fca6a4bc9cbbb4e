package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// begin acts out what goes wrong before or instead of serving. It reports
// whether the plugin is over.
func begin(mode string) (over bool) {
	mode, value, _ := strings.Cut(mode, "=")
	switch mode {
	case "garbage":
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("\x1b]0;garbage\x07"), 1<<17)) // the test reads it
		forever()
	case "print":
		fmt.Println("starting up ...")
		forever()
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case "once": // only the first time
		if f, err := os.OpenFile(value, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close() // nothing was written
			fmt.Fprintln(os.Stderr, "not now")
			os.Exit(3)
		}
	case "version":
		fmt.Println("1|7|unix|/nowhere|grpc|")
		forever()
	case "core":
		fmt.Println("9|1|unix|/nowhere|grpc|")
		forever()
	case "netrpc":
		fmt.Println("1|1|unix|/nowhere|netrpc|")
		forever()
	case "tcp":
		fmt.Println("1|1|tcp|127.0.0.1:1|grpc|")
		forever()
	case "silent":
		forever()
	case "slow":
		d, err := time.ParseDuration(value)
		if err != nil {
			panic(err)
		}
		time.Sleep(d)
	case "until":
		for _, err := os.Stat(value); err != nil; _, err = os.Stat(value) {
			time.Sleep(2 * time.Millisecond)
		}
	case "rogue":
		rogue()
		return true
	case "stubborn":
		signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	case "dies":
		time.AfterFunc(50*time.Millisecond, func() { os.Exit(4) })
	}
	return false
}

func (f *faults) configure(ctx context.Context, s sdk.Settings) error {
	switch f.config.Refuse {
	case "":
	case "hang":
		if marks := os.Getenv("FAULT_MARKS"); marks != "" {
			if err := mark(marks, "hangs\n"); err != nil {
				return err
			}
		}
		forever()
	case "die":
		os.Exit(9)
	default:
		return errors.New(f.config.Refuse)
	}
	if f.config.Secret != "" {
		v, err := host.From(ctx).Secret(ctx, f.config.Secret)
		if err != nil {
			return err
		}
		f.config.Key = v
	}
	f.label = s.Instance
	if order := os.Getenv("FAULT_ORDER"); order != "" {
		return mark(order, "+"+f.label+"\n")
	}
	if marks := os.Getenv("FAULT_MARKS"); marks != "" {
		return mark(marks, fmt.Sprintf("configured %d\n", s.Generation))
	}
	return nil
}

// release says which run was given up, by which process.
func (f *faults) release(_ context.Context, run, runDir string) error {
	return mark(os.Getenv("FAULT_MARKS"), fmt.Sprintf("released %s %s %d\n", run, runDir, os.Getpid()))
}

func (f *faults) health(context.Context) error {
	if os.Getenv("FAULT_ILL") != "" {
		return errors.New("it is ill")
	}
	return nil
}

func (f *faults) drain(context.Context) error {
	if os.Getenv("FAULT") == "stubborn" {
		forever()
	}
	if order := os.Getenv("FAULT_ORDER"); order != "" {
		return mark(order, "-"+f.label+"\n")
	}
	if marks := os.Getenv("FAULT_MARKS"); marks != "" {
		return mark(marks, "drained\n")
	}
	return nil
}

// mark leaves a line in a file that the test reads.
func mark(file, line string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// forever waits without being a deadlock, which Go's runtime would end.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}
