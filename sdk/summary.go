package sdk

import "fmt"

// SummaryScheme is the scheme of summaries of a run's conversation.
const SummaryScheme = "summary"

// SummaryPath is the path of the summary that the Nth prompt of a run asked for: it stands for all that was said in the run
// until then, which is archived.
func SummaryPath(prompt int) string { return fmt.Sprintf("%s://%d", SummaryScheme, prompt) }

// Summary is what the attributes of a summary say.
type Summary struct {
	Loop    int64    `json:"loop"`    // that asked for it: it stands for what was said until then
	Turn    int      `json:"turn"`    // that wrote it
	Prompts int      `json:"prompts"` // that it stands for, that which asked for it left out, and so on
	Answers int      `json:"answers"`
	Calls   int      `json:"calls"`
	Skills  []string `json:"skills,omitempty"` // whose text went with them
}
