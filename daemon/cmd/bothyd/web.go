package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/webguard"
)

type webCmd struct {
	Judge webJudgeCmd `cmd:"" help:"Say whether an address may be asked for, and what policy does with it. Nobody is asked."`
}

type webJudgeCmd struct {
	verbs.WebJudge
	Dir string `placeholder:"DIR" help:"A folder of the project whose rules count, instead of the working directory."`
}

// judgedAddress is what the guard says of an address, and then policy.
type judgedAddress struct {
	Verdict webguard.Verdict `json:"verdict"`
	Kind    webguard.Kind    `json:"kind"`
	Reason  string           `json:"reason"`
	Asked   string           `json:"asked,omitempty"`
	Host    string           `json:"host,omitempty"`

	Decision sdk.Verdict `json:"decision"`
	Rule     string      `json:"rule"`
	Source   string      `json:"source"`
	Why      string      `json:"why"`
}

// Run exits with 0 whatever is said of the address.
func (cmd webJudgeCmd) Run(f *flags, c *console, files *inspect.Files) error {
	var out judgedAddress
	u, err := openedBy(context.Background(), files).Judge(cmd.Address)
	if refusal, is := errors.AsType[*webguard.Refusal](err); is {
		out.Verdict, out.Kind, out.Reason = refusal.Verdict, refusal.Kind, refusal.Reason
	} else if err != nil {
		return err
	} else {
		out.Verdict, out.Asked = webguard.Allow, u.String()
	}
	j, err := judge(f, c, cmd.Dir, policy.Trial{Text: cmd.Address, Address: true, Mode: sdk.Mode(cmd.Mode)}, "")
	out.Host, out.Decision, out.Rule, out.Source, out.Why = j.Host, j.Decision, j.Rule, j.Source, j.Reason
	return report(c, out, err, printJudgedAddress)
}

// openedBy is what the block of the plugin web opens beyond the web: nothing where there is none, or none that can
// be read, with which the plugin does not run either.
func openedBy(ctx context.Context, files *inspect.Files) (options webguard.Options) {
	i := slices.IndexFunc(files.Config.Plugins, func(p config.Plugin) bool { return p.Enabled && p.Binary == "web" })
	if i < 0 {
		return options
	}
	var set struct {
		Ports   []string `json:"ports"`
		Origins []string `json:"origins"`
	}
	spec := inspect.SpecOf(files.Config, files.Config.Plugins[i])
	spec.Eval = files.Config.WithoutSecrets()
	if json.Unmarshal(files.Inspector.Open(ctx, spec), &set) != nil {
		return options
	}
	options.Origins = set.Origins
	for _, text := range set.Ports {
		if port, err := strconv.ParseUint(text, 10, 16); err == nil {
			options.Ports = append(options.Ports, uint16(port))
		}
	}
	return options
}

// printJudgedAddress prints the verdict of the guard, why, and what policy does.
func printJudgedAddress(c *console, j judgedAddress) error {
	text := string(j.Verdict) + "\n"
	if j.Kind != "" {
		text += fmt.Sprintf("  kind:   %s\n  why:    %s\n", j.Kind, oneLine(j.Reason))
	} else {
		text += fmt.Sprintf("  asked:  %s\n", oneLine(j.Asked))
	}
	text += fmt.Sprintf("  policy: %s by rule %s (%s): %s\n", j.Decision, oneLine(j.Rule), oneLine(j.Source), oneLine(j.Why))
	_, err := io.WriteString(c.out, text)
	return err
}
