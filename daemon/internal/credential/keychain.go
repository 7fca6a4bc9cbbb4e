package credential

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Keychain is the keyring of macOS, by its program security: a key goes in by its standard input
// and comes out of its standard output, and is never an argument.
type Keychain struct{ Program string }

const (
	// notThere is the exit status of security for an item that is not there
	// (errSecItemNotFound, -25300, as one byte).
	notThere = 44
	// longestCommand is what a line of `security -i` takes, in bytes.
	longestCommand = 4096
)

// Read implements Ring.
func (k Keychain) Read(ctx context.Context, names []string) (map[string]string, error) {
	found := map[string]string{}
	for _, name := range names {
		out, err := k.run(ctx, "", "find-generic-password", "-s", service, "-a", name, "-w")
		if absent(err) {
			continue
		}
		if err != nil {
			return found, err
		}
		text := strings.TrimSuffix(out, "\n")
		if value, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, encoded)); err == nil && strings.HasPrefix(text, encoded) {
			text = string(value)
		}
		found[name] = text
	}
	return found, nil
}

// encoded is before a value of ours: security shows what is not plain text as hex.
const encoded = "base64:"

// Write implements Ring.
func (k Keychain) Write(ctx context.Context, name, value string) error {
	if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") != "" {
		return errors.New("the name of the key has other characters than A-Z a-z 0-9 _ . -")
	}
	command := fmt.Sprintf("add-generic-password -U -s %s -a %s -l %s -w %s\n", service, name, "bothy-"+name, encoded+base64.StdEncoding.EncodeToString([]byte(value)))
	if len(command) > longestCommand {
		return errors.New("the key is too long for it")
	}
	_, err := k.run(ctx, command, "-i")
	return err
}

// Remove implements Ring.
func (k Keychain) Remove(ctx context.Context, name string) (bool, error) {
	_, err := k.run(ctx, "", "delete-generic-password", "-s", service, "-a", name)
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}

func absent(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == notThere
}

// run runs security without the daemon's environment but HOME, by which it finds the keychain.
// Its output is in no error: it may be a key.
func (k Keychain) run(ctx context.Context, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, k.Program, args...)
	cmd.Env = []string{"HOME=" + os.Getenv("HOME")}
	cmd.Stdin = strings.NewReader(input)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if said := strings.TrimSpace(complaint.String()); err != nil && said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	} else if said != "" && input != "" { // -i ends well whatever became of its commands
		err = errors.New(said)
	}
	return out.String(), err
}
