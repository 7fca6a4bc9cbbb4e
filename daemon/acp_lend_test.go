//go:build linux

package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/acp-go-sdk"
)

// notesServer is a server of MCP that an editor names, with a key of its own.
func (e *editor) notesServer(key string) acp.McpServer {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "acp", "server.py"))
	if err != nil {
		e.t.Fatal(err)
	}
	path := filepath.Join(e.s.home, "server.py")
	if _, err := os.Stat(path); err != nil { // once: another session's server may just be reading it
		err = os.WriteFile(path, text, 0o600)
		if err != nil {
			e.t.Fatal(err)
		}
	}
	return acp.McpServer{Stdio: &acp.McpServerStdio{Name: "My Notes", Command: "/usr/bin/python3", Args: []string{path}, Env: []acp.EnvVariable{{Name: "NOTES_KEY", Value: key}}}}
}

// lentTool is what a tool of that server is called in a session.
func lentTool(id acp.SessionId, tool string) string {
	sum := sha256.Sum256([]byte(id))
	return "mcp___" + hex.EncodeToString(sum[:4]) + "_my_notes__" + tool
}

func digestOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])[:12]
}

// TestEditorLendsServers: a server that an editor names is there for the runs of its session alone, with what it was
// given and nothing else of the environment, and is gone with it. It stands in no file.
func TestEditorLendsServers(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.env = append(s.env, "USER_CANARY=canary-of-the-user")
	e := s.opens(t, "--allow-dangerous", "--mode", "full")
	first := e.begins(e.notesServer("key-of-the-first-session"), acp.McpServer{Stdio: &acp.McpServerStdio{Name: "none"}}).SessionId
	other := s.opens(t, "--allow-dangerous", "--mode", "full")
	second := other.begins(other.notesServer("key-of-the-second-session")).SessionId

	call := func(e *editor, id acp.SessionId, tool string) string {
		t.Helper()
		before := len(ofKind(e.has(id), "agent"))
		e.asks(id, "call "+tool+" {}")
		said := ""
		e.waits("what the tool said", func(told []acp.SessionNotification) bool {
			texts := ofKind(toldLines(told, id), "agent")
			if len(texts) > before {
				said = texts[len(texts)-1]
			}
			return said != ""
		})
		return said
	}
	for _, x := range []struct {
		e   *editor
		id  acp.SessionId
		key string
	}{{e, first, "key-of-the-first-session"}, {other, second, "key-of-the-second-session"}} {
		if got := call(x.e, x.id, lentTool(x.id, "who")); !strings.Contains(got, "\n"+digestOf(x.key)+"\n") {
			t.Errorf("the session %s has %q", x.id, got)
		}
		if got := call(x.e, x.id, lentTool(x.id, "canaries")); !strings.Contains(got, "\nnone\n") {
			t.Errorf("of the environment the server has %q", got)
		}
	}
	e.waits("what cannot be used", func(told []acp.SessionNotification) bool {
		return strings.Contains(strings.Join(ofKind(toldLines(told, first), "thought"), "\n"), "The MCP server none of the editor is not used: it has a command or a url")
	})
	// Nobody else has it: neither the other session, nor what a person calls in the project.
	if got := call(other, second, lentTool(first, "who")); strings.Contains(got, digestOf("key-of-the-first-session")) || !strings.Contains(got, "may not use") {
		t.Errorf("another session has %q", got)
	}
	if got, err := s.tries("tools", "call", lentTool(first, "who")); err == nil || strings.Contains(got, digestOf("key-of-the-first-session")) {
		t.Errorf("a person outside of the session has %q, %v", got, err)
	}
	if _, err := e.conn.CloseSession(e.ctx(), acp.CloseSessionRequest{SessionId: first}); err != nil {
		t.Fatal(err)
	}
	gone := lentTool(first, "who")
	for ctx := e.ctx(); strings.Contains(s.bothy("plugins", "list"), strings.TrimSuffix(gone, "__who")); {
		if ctx.Err() != nil {
			t.Fatal("it is not gone with its session")
		}
	}
	kept := func() []string {
		all, err := filepath.Glob(filepath.Join(s.home, ".local", "state", "bothy", "confined", "mcp___*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for ctx := e.ctx(); len(kept()) != 1; { // of the second session
		if ctx.Err() != nil {
			t.Fatalf("what it kept is not gone with its session: %q", kept())
		}
	}

	// Another daemon is lent it again.
	who := lentTool(second, "who")
	s.killDaemon()
	if got := call(other, second, who); !strings.Contains(got, "\n"+digestOf("key-of-the-second-session")+"\n") {
		t.Errorf("after another daemon came: %q", got)
	}
	other.closes()
	e.closes()
	s.bothy("stop")
	if left := kept(); len(left) > 0 {
		t.Errorf("the daemon leaves %q", left)
	}
	s.nowhere("key-of-the-first-session", "key-of-the-second-session")
	for _, e := range []*editor{e, other} {
		if bytes.Contains(e.frames.Bytes(), []byte("key-of-the")) || strings.Contains(e.log.String(), "key-of-the") {
			t.Error("a key is among what the editor was told")
		}
	}
}

// tries runs bothy and returns what it wrote.
func (s *seat) tries(args ...string) (string, error) {
	cmd := exec.Command(s.prefix("bin", "bothy"), args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// nowhere fails where one of some texts stands in a file of the seat.
func (s *seat) nowhere(texts ...string) {
	s.t.Helper()
	err := filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, x := range texts {
			if bytes.Contains(text, []byte(x)) {
				s.t.Errorf("%s has %q", path, x)
			}
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		s.t.Error(err)
	}
}

// TestEditorBuffers: what an editor has unsaved is what the model of its session reads, and nothing writes over it;
// others have the disk, and so has who asks an editor that does not answer.
func TestEditorBuffers(t *testing.T) {
	s := newSeat(t, 80, 24)
	for name, text := range map[string]string{"a.txt": "on the disk\n", "crlf.txt": "one\r\ntwo\r\n", "slow.txt": "slow on the disk\n", "long.txt": "on the disk\n"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	buffers := map[string]string{"a.txt": "in the editor\n", "crlf.txt": "one\ntwo", "long.txt": strings.Repeat("a line of a long text\n", 200_000)}
	link := filepath.Join(s.home, "link") // the editor knows the project by another path
	if err := os.Symlink(s.dir, link); err != nil {
		t.Fatal(err)
	}
	e := s.opensWith(t, func(ctx context.Context, path string) (string, error) {
		name, err := filepath.Rel(link, path)
		if err != nil || !filepath.IsLocal(name) {
			t.Errorf("asked for %s", path)
		}
		if name == "slow.txt" {
			<-ctx.Done()
		}
		mu.Lock()
		defer mu.Unlock()
		text, is := buffers[name]
		if !is {
			return "", errors.New("no such file")
		}
		return text, nil
	}, "--allow-dangerous", "--mode", "full")
	made, err := e.conn.NewSession(e.ctx(), acp.NewSessionRequest{Cwd: link, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	id := made.SessionId
	says := func(e *editor, id acp.SessionId, call, want string) {
		t.Helper()
		before := len(e.has(id))
		e.asks(id, "call "+call)
		e.waits(call+": "+want, func(told []acp.SessionNotification) bool {
			lines := toldLines(told, id)
			return strings.Contains(strings.Join(lines[min(before, len(lines)):], "\n"), want)
		})
	}
	says(e, id, `read_file {"path":"a.txt"}`, "the tool said: in the editor")
	says(e, id, `edit_file {"path":"a.txt","old_text":"in the editor","new_text":"edited"}`, "ask the person to save")
	says(e, id, `write_file {"path":"a.txt","content":"written"}`, "ask the person to save")
	if got := s.written(filepath.Join(s.dir, "a.txt")); got != "on the disk\n" {
		t.Errorf("a.txt is %q", got)
	}
	other := s.opens(t, "--allow-dangerous", "--mode", "full")
	says(other, other.begins().SessionId, `read_file {"path":"a.txt"}`, "the tool said: on the disk")
	// What an editor shows with other ends of lines is not unsaved.
	says(e, id, `edit_file {"path":"crlf.txt","old_text":"two","new_text":"three"}`, "Edited crlf.txt")
	says(e, id, `read_file {"path":"slow.txt"}`, "the tool said: slow on the disk")
	says(e, id, `write_file {"path":"slow.txt","content":"written"}`, "did not say within a second whether it has unsaved changes of slow.txt")
	// A text that is too long to be told may be another than the disk has.
	says(e, id, `write_file {"path":"long.txt","content":"written"}`, "did not say within a second whether it has unsaved changes of long.txt")
	for name, want := range map[string]string{"slow.txt": "slow on the disk\n", "long.txt": "on the disk\n"} {
		if got := s.written(filepath.Join(s.dir, name)); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	// When it is saved, the edit of what was read fits.
	if err := os.WriteFile(filepath.Join(s.dir, "a.txt"), []byte("in the editor\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(e, id, `edit_file {"path":"a.txt","old_text":"in the editor","new_text":"edited"}`, "Edited a.txt")
	if got := s.written(filepath.Join(s.dir, "a.txt")); got != "edited\n" {
		t.Errorf("a.txt is %q", got)
	}
	if told := e.has(id); slices.Contains(told, "") {
		t.Errorf("%q", told)
	}
}
