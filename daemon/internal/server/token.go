package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/bothyd/bothy/sdk/rpc"
)

// token is the proof of one role: 256 random bits of this boot, in a file that
// only the daemon's user can read.
type token struct {
	role rpc.Role
	text string
	hash [sha256.Size]byte
	path string
	file os.FileInfo // as it was written
}

// Format keeps the token out of whatever is printed, for its text and its hash
// are nobody's business.
func (x token) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "token of the role "+string(x.role)) // fmt keeps no errors
}

// tokens are those of one daemon, which lie beside its socket. They are written
// under the lock and before the socket is there, so that whoever reaches this
// daemon finds its own tokens and not those of one before it.
type tokens []*token

// newTokens makes tokens for the daemon at socket. It writes nothing.
func newTokens(socket string) tokens {
	var list tokens
	for _, role := range []rpc.Role{rpc.RoleSubmit, rpc.RoleApprove, rpc.RoleAdmin} {
		bits := make([]byte, 32)
		_, _ = rand.Read(bits) // never fails: it ends the process instead
		text := hex.EncodeToString(bits)
		list = append(list, &token{role: role, text: text, hash: sha256.Sum256([]byte(text)), path: rpc.TokenPath(socket, role)})
	}
	return list
}

// role is what a text that a client sent is the token of. It takes the same time
// whatever the text has in common with a token: hashes of both are compared, all
// of them, and each to its end.
func (t tokens) role(given string) (rpc.Role, bool) {
	hash := sha256.Sum256([]byte(given))
	found := rpc.Role("")
	for _, x := range t {
		if subtle.ConstantTimeCompare(hash[:], x.hash[:]) == 1 {
			found = x.role
		}
	}
	return found, found != ""
}

// write writes all files anew.
func (t tokens) write() error {
	for _, x := range t {
		if err := x.write(); err != nil {
			return err
		}
	}
	return nil
}

// restore writes those files anew that are not what was written, and names
// their roles.
func (t tokens) restore() (again []rpc.Role, err error) {
	for _, x := range t {
		if x.whole() {
			continue
		}
		again = append(again, x.role)
		err = errors.Join(err, x.write())
	}
	return again, err
}

// remove removes the files that are still those that were written: a successor's may have
// got the same inode, and have another text.
func (t tokens) remove() error {
	var failed error
	for _, x := range t {
		if x.whole() {
			failed = errors.Join(failed, os.Remove(x.path))
		}
	}
	return failed
}

// write puts a new file into its place at once: who reads it reads all of it.
// What was at the place, a link too, is gone and was not followed.
func (x *token) write() error {
	fresh := x.path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("token of the role %s: %w; move it elsewhere", x.role, err)
	}
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("token of the role %s: %w", x.role, err)
	}
	_, err = io.WriteString(f, x.text)
	info, statErr := f.Stat()
	err = errors.Join(err, f.Chmod(0o600), statErr, f.Close())
	if err == nil {
		err = os.Rename(fresh, x.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("token of the role %s: %w; move elsewhere what is in its way", x.role, err), os.Remove(fresh))
	}
	x.file = info
	return nil
}

// whole reports whether the file is the one that was written, closed to others
// and with the same text.
func (x *token) whole() bool {
	f, err := os.OpenFile(x.path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // read only
	there, err := f.Stat()
	if err != nil || x.file == nil || !os.SameFile(there, x.file) || there.Mode() != 0o600 {
		return false
	}
	text := make([]byte, len(x.text)+1)
	n, err := io.ReadFull(f, text)
	return errors.Is(err, io.ErrUnexpectedEOF) && subtle.ConstantTimeCompare(text[:n], []byte(x.text)) == 1
}
