package frame

import "testing"

func TestFilters(t *testing.T) {
	for status, want := range map[string]int{
		"Name:\tbothy-runner\nSeccomp:\t2\nSeccomp_filters:\t3\nCpus:\t1\n": 3,
		"Seccomp:\t0\nSeccomp_filters:\t0\n":                                0,
		"Seccomp:\t2\n":                                                     Uncounted,
		"Seccomp:\t1\n":                                                     0,
		"Seccomp:\tx\n":                                                     0,
		"":                                                                  0,
	} {
		if got := Filters([]byte(status)); got != want {
			t.Errorf("%q: got %d, want %d", status, got, want)
		}
	}
}
