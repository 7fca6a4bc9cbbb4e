package skill

import "fmt"

// Unseen names the places in a file's text where a person does not see what is
// there, each as PATH:LINE:COLUMN and what it is.
func Unseen(path, text string) []string {
	var out []string
	for _, d := range showHidden([]byte(text)) {
		if d != nil {
			out = append(out, fmt.Sprintf("%s:%d:%d: %s", path, d.Line, d.Column, d.Message))
		}
	}
	return out
}
