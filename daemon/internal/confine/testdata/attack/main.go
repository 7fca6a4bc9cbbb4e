// Command attack tries one thing that a confined plugin must not be able to do.
// It prints "worked" when it could, and "refused: " with the reason when not.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// deeds are what it can try, by the name of the first argument.
var deeds = map[string]func(args []string) error{}

func main() {
	if len(os.Args) < 2 {
		fmt.Println("untried: no deed was named")
		os.Exit(2)
	}
	name, args := os.Args[1], os.Args[2:]
	switch name {
	case "orphan", "orphaned": // leaves its parents and its session behind, then tries
		fail(away(name, args))
		return
	}
	deed, ok := deeds[name]
	if !ok {
		fmt.Println("untried: there is no deed", name)
		os.Exit(2)
	}
	if err := deed(args); err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
	fmt.Println("worked")
}

// away starts the deed in a grandchild with a session of its own, whose parent
// is gone. The output tells how it went.
func away(name string, args []string) error {
	next := append([]string{"orphaned"}, args...)
	if name == "orphaned" {
		next = args
	}
	cmd := exec.Command("/proc/self/exe", next...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if name == "orphaned" {
		return ran(cmd.Run())
	}
	return cmd.Start()
}

// ran forgives a deed that was refused: it has said so itself.
func ran(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// fail says that the way to the deed was barred already.
func fail(err error) {
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
}
