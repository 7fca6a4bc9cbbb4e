package sdk

import "testing"

// TestPairingCode: a code is found however it is typed, and nothing that people write to each other is one.
func TestPairingCode(t *testing.T) {
	for text, want := range map[string]string{
		"K7QM-4FZX": "K7QM-4FZX", " k7qm-4fzx\n": "K7QM-4FZX",
		"": "", "hello": "", "K7QM4FZX": "", "K7QM-4FZX-": "", "K7Q-M4FZX": "", "K1QM-4FZX": "", "K7QM-4FZé": "", "-": "", "K7QM - 4FZX": "",
	} {
		if got := PairingCode(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzPairingCode(f *testing.F) {
	f.Add("k7qm-4fzx")
	f.Fuzz(func(t *testing.T, text string) {
		if code := PairingCode(text); code != "" && (len(code) != 9 || code[4] != '-' || PairingCode(code) != code) {
			t.Errorf("%q is %q", text, code)
		}
	})
}
