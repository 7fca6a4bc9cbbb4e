package packet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// budgetPart is what the packet costs, and by what. Its table has what can be demoted; summaries are one line below it, for they
// go by patterns and not one by one.
var budgetPart = part{name: "budget", priority: 175, says: true, text: func(_ *sdk.Prompt, f *figures) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<budget%s>\n", f.attributes())
	if len(f.schemes) > 0 {
		b.WriteString("| scheme | visible | tokens | % |\n|---|---|---|---|\n")
	}
	byTokens := func(x, y string) int {
		return cmp.Or(cmp.Compare(f.schemes[y].tokens, f.schemes[x].tokens), cmp.Compare(x, y))
	}
	for _, name := range slices.SortedFunc(maps.Keys(f.schemes), byTokens) {
		s := f.schemes[name]
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", name, s.visible, s.tokens, f.share(s.tokens))
	}
	if len(f.schemes) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "Summarized: %d entries, %d tokens (%s of budget).\n", f.summarized, f.summaries, f.share(f.summaries))
	fmt.Fprintf(&b, "System: %d tokens (%s of budget).\n", f.system, f.share(f.system))
	if f.ceiling > 0 {
		fmt.Fprintf(&b, "Total: %d visible + %d summarized entries; tokenUsage %d / ceiling %d. %d tokens free.\n", f.visible, f.summarized, f.usage, f.ceiling, f.free())
	} else {
		fmt.Fprintf(&b, "Total: %d visible + %d summarized entries; tokenUsage %d.\n", f.visible, f.summarized, f.usage)
	}
	b.WriteString(strings.Repeat(" ", f.padding) + "</budget>")
	return b.String()
}}
