package server

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

var tokenForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// TestTokenFiles: two of them, closed to others, different at each start, and
// gone after an orderly end.
func TestTokenFiles(t *testing.T) {
	path := filepath.Join(shortDir(t), "b", rpc.SocketName)
	seen := map[string]bool{}
	for range 2 {
		l, err := Listen(path)
		must(t, err)
		for _, role := range []rpc.Role{rpc.RoleApprove, rpc.RoleAdmin} {
			file := rpc.TokenPath(path, role)
			info, err := os.Lstat(file)
			must(t, err)
			if info.Mode() != 0o600 {
				t.Errorf("%s has mode %s", file, info.Mode())
			}
			text, err := os.ReadFile(file)
			must(t, err)
			if !tokenForm.Match(text) || seen[string(text)] {
				t.Errorf("%s holds %q, which is no new token", file, text)
			}
			seen[string(text)] = true
			if got, ok := l.tokens.role(string(text)); !ok || got != role {
				t.Errorf("it is the token of %q", got)
			}
		}
		must(t, l.Close())
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*token*")); left != nil {
			t.Errorf("an orderly end leaves %v", left)
		}
	}
}

// TestNoTokens: what is nearly one, or was one, is none.
func TestNoTokens(t *testing.T) {
	path := filepath.Join(shortDir(t), "b", rpc.SocketName)
	l, err := Listen(path)
	must(t, err)
	text := l.tokens[0].text
	for _, wrong := range []string{"", " ", text[:63], text + "0", text + "\n", " " + text, strings.ToUpper(text), string(l.tokens[0].hash[:]), "token of the role admin", strings.Repeat("0", 64)} {
		if role, ok := l.tokens.role(wrong); ok {
			t.Errorf("%q has the role %s", wrong, role)
		}
	}
	for i := range text { // each digit counts
		flipped := []byte(text)
		if flipped[i]++; flipped[i] == ':' || flipped[i] == 'g' {
			flipped[i] = '0'
		}
		if _, ok := l.tokens.role(string(flipped)); ok {
			t.Errorf("digit %d does not count", i)
		}
	}
	must(t, l.Close())
}

// TestTokenOfAnEarlierBoot: what a daemon that was killed left behind is worth
// nothing to the next one, which puts its own in the place.
func TestTokenOfAnEarlierBoot(t *testing.T) {
	h := open(t, func(c *Config) { c.Limits.WrongToken = 1 })
	earlier := newTokens(filepath.Join(shortDir(t), "x"))
	must(t, earlier.write())
	r := h.dial(t)
	r.send(hello(earlier[1].text, ""))
	r.wantError(rpc.CodeRole, "makes new ones at each start")

	path := filepath.Join(shortDir(t), "b", rpc.SocketName)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	for _, role := range []rpc.Role{rpc.RoleApprove, rpc.RoleAdmin} {
		must(t, os.WriteFile(rpc.TokenPath(path, role), []byte(strings.Repeat("a", 64)), 0o644))
		must(t, os.WriteFile(rpc.TokenPath(path, role)+".new", []byte("cut"), 0o644))
	}
	l, err := Listen(path)
	must(t, err)
	for _, x := range l.tokens {
		if !x.whole() {
			t.Errorf("the token of %s was not put in the place of what was there", x.role)
		}
	}
	must(t, l.Close())
}

// TestTokenIsNotWrittenThroughALink: what lies at the place is replaced and not
// followed.
func TestTokenIsNotWrittenThroughALink(t *testing.T) {
	path := filepath.Join(shortDir(t), "b", rpc.SocketName)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	victim := filepath.Join(t.TempDir(), "victim")
	must(t, os.WriteFile(victim, []byte("mine"), 0o644))
	must(t, os.Symlink(victim, rpc.TokenPath(path, rpc.RoleAdmin)))
	must(t, os.Symlink(victim, rpc.TokenPath(path, rpc.RoleAdmin)+".new"))
	l, err := Listen(path)
	must(t, err)
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("the link was followed: %q %v", text, err)
	}
	if info, err := os.Lstat(rpc.TokenPath(path, rpc.RoleAdmin)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	must(t, l.Close())
}

// TestTokenInTheWay: a daemon that cannot write its tokens does not serve, says
// what to do, and leaves neither socket nor lock.
func TestTokenInTheWay(t *testing.T) {
	path := filepath.Join(shortDir(t), "b", rpc.SocketName)
	must(t, os.MkdirAll(filepath.Join(rpc.TokenPath(path, rpc.RoleAdmin), "x"), 0o700))
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "admin") || !strings.Contains(err.Error(), "move elsewhere") {
		t.Errorf("got %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	if len(left) != 2 { // the lock's file, and what was in the way
		t.Errorf("it leaves %v", left)
	}
	must(t, os.RemoveAll(rpc.TokenPath(path, rpc.RoleAdmin)))
	l, err := Listen(path)
	must(t, err)
	must(t, l.Close())
}

// TestTokenIsMadeAgain: whatever somebody does to the file, the daemon's own
// token is soon in it, and the audit has it.
func TestTokenIsMadeAgain(t *testing.T) {
	for name, harm := range map[string]func(file string) error{
		"removed":     os.Remove,
		"overwritten": func(file string) error { return os.WriteFile(file, []byte(strings.Repeat("0", 64)), 0o600) },
		"appended to": func(file string) error {
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("0")
			return errors.Join(err, f.Close())
		},
		"replaced": func(file string) error {
			if err := os.WriteFile(file+".x", []byte(strings.Repeat("0", 64)), 0o600); err != nil {
				return err
			}
			return os.Rename(file+".x", file)
		},
		"opened to others": func(file string) error { return os.Chmod(file, 0o644) },
		"a link": func(file string) error {
			return errors.Join(os.Rename(file, file+".real"), os.Symlink(file+".real", file))
		},
		"a pipe": func(file string) error { return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			audit := &fakeAudit{}
			h := open(t, func(c *Config) {
				c.Audit = audit
				c.Limits.Watchdog = 10 * time.Millisecond
			})
			file := rpc.TokenPath(h.path, rpc.RoleApprove)
			before := h.token(t, rpc.RoleApprove)
			must(t, harm(file))
			eventually(t, "the token is back", func() bool {
				info, err := os.Lstat(file)
				if err != nil || info.Mode() != 0o600 {
					return false
				}
				text, err := os.ReadFile(file)
				return err == nil && string(text) == before
			})
			eventually(t, "the audit has it", func() bool { return audit.has(EventTokenReplaced, "approve") })
			if got, err := h.as(t, rpc.RoleApprove).Hello(context.Background()); err != nil || got.Role != rpc.RoleApprove {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

// TestTokenCannotBeMadeAgain: the daemon serves on, and says it once.
func TestTokenCannotBeMadeAgain(t *testing.T) {
	audit, log := &fakeAudit{}, &syncBuffer{}
	h := open(t, func(c *Config) {
		c.Audit = audit
		c.Log = hclog.New(&hclog.LoggerOptions{Output: log})
		c.Limits.Watchdog = 5 * time.Millisecond
	})
	file := rpc.TokenPath(h.path, rpc.RoleApprove)
	must(t, os.Remove(file))
	for os.MkdirAll(filepath.Join(file, "x"), 0o700) != nil { // the daemon may be faster
		must(t, os.RemoveAll(file))
	}
	eventually(t, "it is said", func() bool { return strings.Contains(log.String(), "cannot be written") })
	if err := h.as(t, "").Ping(context.Background()); err != nil {
		t.Error(err)
	}
	must(t, os.RemoveAll(file))
	eventually(t, "the token is back", func() bool { info, err := os.Lstat(file); return err == nil && info.Mode() == 0o600 })
	if audit.count() > 2 {
		t.Errorf("it is told %d times", audit.count())
	}
}

// TestTokensOfASuccessor: a daemon that lost its place removes nothing of the
// other one's.
func TestTokensOfASuccessor(t *testing.T) {
	path := filepath.Join(shortDir(t), "b", rpc.SocketName)
	old, err := Listen(path)
	must(t, err)
	must(t, os.RemoveAll(filepath.Dir(path)))
	successor, err := Listen(path)
	must(t, err)
	if roles, err := old.restoreTokens(); roles != nil || err != nil {
		t.Errorf("the old one writes %v, %v", roles, err)
	}
	must(t, old.Close())
	for _, x := range successor.tokens {
		if !x.whole() {
			t.Errorf("the token of %s is gone", x.role)
		}
	}
	must(t, successor.Close())
}

// TestClientAndToken: what a client is told that cannot read its token, and that
// one which is missing for a moment is waited for.
func TestClientAndToken(t *testing.T) {
	h := open(t, func(c *Config) { c.Limits.Watchdog = 20 * time.Millisecond })
	must(t, os.Remove(rpc.TokenPath(h.path, rpc.RoleAdmin)))
	if got, err := h.as(t, rpc.RoleAdmin).Hello(context.Background()); err != nil || got.Role != rpc.RoleAdmin {
		t.Errorf("a missing one: %+v %v", got, err)
	}

	still := open(t, func(c *Config) { c.Limits.Watchdog = time.Hour })
	file := rpc.TokenPath(still.path, rpc.RoleAdmin)
	var unread *client.TokenError
	for want, harm := range map[string]func() error{
		"it is no token":        func() error { return os.WriteFile(file, []byte("short"), 0o600) },
		"too many levels":       func() error { return os.Symlink(file+".real", file) },
		"no such file":          func() error { return nil },
		"it is no token at all": func() error { return os.WriteFile(file, []byte(strings.Repeat("0", 65)), 0o600) },
	} {
		must(t, os.RemoveAll(file))
		must(t, harm())
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Millisecond)
		_, err := still.as(t, rpc.RoleAdmin).Status(ctx)
		cancel()
		if !errors.As(err, &unread) || unread.Path != file || !strings.Contains(err.Error(), strings.TrimSuffix(want, " at all")) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := still.as(t, "").Status(context.Background()); err != nil {
		t.Errorf("without a role: %v", err)
	}
}

// TestTokensAreNotShown: neither printed, nor in the log, nor in an event or an
// answer, whatever becomes of them.
func TestTokensAreNotShown(t *testing.T) {
	audit, log := &fakeAudit{}, &syncBuffer{}
	h := open(t, func(c *Config) {
		c.Audit = audit
		c.Log = hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Trace})
		c.Limits.WrongToken = 1
		c.Limits.Watchdog = 5 * time.Millisecond
	})
	text, foreign := h.token(t, rpc.RoleAdmin), strings.Repeat("ab", 32)
	shown := ""
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		shown += fmt.Sprintf(form, h.listener.tokens) + fmt.Sprintf(form, *h.listener.tokens[1])
	}
	r := h.dial(t)
	for _, given := range []string{text, foreign} {
		r.send(hello(given, "nonsense"))
		shown += r.answer().Error.Message
		r.send(hello(given, rpc.RoleObserve))
		m := r.answer()
		shown += string(m.Result)
		if m.Error != nil {
			shown += m.Error.Message
		}
	}
	must(t, os.Remove(rpc.TokenPath(h.path, rpc.RoleAdmin)))
	eventually(t, "the token is back", func() bool { return audit.has(EventTokenReplaced, "") })
	audit.mu.Lock()
	shown += log.String() + strings.Join(audit.details, " ")
	audit.mu.Unlock()
	if strings.Contains(shown, text) || strings.Contains(shown, foreign) || strings.Contains(shown, text[:16]) {
		t.Errorf("a token is shown in:\n%s", shown)
	}
}

// TestTokensAreComparedInConstantTime reads the code: what a client sent is
// hashed, and hashes are compared by crypto/subtle alone.
func TestTokensAreComparedInConstantTime(t *testing.T) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "token.go", nil, 0)
	must(t, err)
	subtle := 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := x.X.(*ast.Ident); ok && pkg.Name == "subtle" && x.Sel.Name == "ConstantTimeCompare" {
				subtle++
			}
			if pkg, ok := x.X.(*ast.Ident); ok && (pkg.Name == "bytes" || pkg.Name == "strings" || pkg.Name == "slices") {
				t.Errorf("token.go uses %s.%s", pkg.Name, x.Sel.Name)
			}
		case *ast.BinaryExpr:
			for _, side := range []ast.Expr{x.X, x.Y} {
				if s, ok := side.(*ast.SelectorExpr); ok && (x.Op == gotoken.EQL || x.Op == gotoken.NEQ) && (s.Sel.Name == "text" || s.Sel.Name == "hash") {
					t.Errorf("token.go compares %s with %s", s.Sel.Name, x.Op)
				}
			}
		}
		return true
	})
	if subtle != 2 {
		t.Errorf("crypto/subtle compares in %d places, want the token of a client and the text of a file", subtle)
	}
}
