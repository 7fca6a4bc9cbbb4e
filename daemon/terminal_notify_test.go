//go:build linux

package daemon

import (
	"bytes"
	"strings"
	"testing"
)

// TestConversationNotifies: a person who looks elsewhere is told by the bell and a
// notification of the desktop that a run asks or is done, and one who looks is not.
func TestConversationNotifies(t *testing.T) {
	for term, told := range map[string]string{
		"xterm-256color": "\a\x1b]9;bothy: chat-1 %s\x1b\\",
		"foot":           "\a\x1b]777;notify;bothy;chat-1 %s\x1b\\",
		"rxvt-unicode":   "\a\x1b]777;notify;bothy;chat-1 %s\x1b\\",
	} {
		t.Run(term, func(t *testing.T) {
			s := newSeat(t, 80, 30)
			s.env = append(s.env, "TERM="+term, "BOTHY_POLICY_MODE=interactive")
			s.sit()
			s.until("> What")
			s.keys("call write_file {\"path\":\"a.txt\",\"content\":\"x\"}\r")
			s.until("y once")
			s.keys("n")
			s.until("✗ write_file")
			s.rests()
			if n := s.rings(""); n != 0 {
				t.Fatalf("who looks at it is told %d times", n)
			}
			s.keys("\x1b[Ocall write_file {\"path\":\"b.txt\",\"content\":\"x\"}\r") // the terminal has no focus
			s.until("? write_file b.txt", "y once")
			s.heard(told, "asks")
			s.keys("y")
			s.until("✓ write_file b.txt", "the tool said")
			s.heard(told, "done")
			s.keys("\x1b[Ihello\r") // and has it again
			s.until("you said: hello")
			s.rests()
			if n := s.rings(""); n != 2 {
				t.Errorf("it is told %d times of two things", n)
			}
		})
	}
}

// rings is how often the terminal was rung, or given a sequence.
func (s *seat) rings(sequence string) int {
	if sequence == "" {
		sequence = "\a\x1b]"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Count(s.wrote, []byte(sequence))
}

// heard waits until the terminal was told something, and checks that it was told once.
func (s *seat) heard(told, what string) {
	s.t.Helper()
	sequence := strings.ReplaceAll(told, "%s", what)
	s.waits(func(string) string {
		if s.rings(sequence) == 0 {
			return sequence
		}
		return ""
	})
	if n := s.rings(sequence); n != 1 {
		s.t.Errorf("%q is told %d times", sequence, n)
	}
}
