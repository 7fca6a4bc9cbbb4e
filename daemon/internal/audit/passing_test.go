package audit

import (
	"fmt"
	"testing"
)

// TestRenewed: what others took the place of is hidden for a time, and then forgotten; what is of
// another name, or was added, stays.
func TestRenewed(t *testing.T) {
	var r Redactor
	r.Add("an-added-secret")
	r.Renew("other", "token-of-another")
	token := func(n int) string { return fmt.Sprintf("token-number-%04d", n) }
	for n := range 50 {
		r.Renew("login", token(n), "", "short")
		r.Renew("login", token(n), "", "short") // it is what it was
		for back := range 6 {
			if n < back {
				continue
			}
			if hidden := r.Redact("x "+token(n-back)+" y") == "x "+Hidden+" y"; hidden != (back < mostPassing) {
				t.Fatalf("%d tellings later: hidden is %v", back, hidden)
			}
		}
	}
	for _, text := range []string{"an-added-secret", "token-of-another"} {
		if got := r.Redact(text); got != Hidden {
			t.Error(got)
		}
	}
	if got := r.Redact("short"); got != "short" {
		t.Error(got)
	}
	if len(r.passes["login"]) != mostPassing {
		t.Errorf("%d are known", len(r.passes["login"]))
	}
}
