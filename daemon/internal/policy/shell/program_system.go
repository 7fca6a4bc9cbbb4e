package shell

import (
	"slices"
	"strings"
)

// systemPrograms show what the machine is and who asks, or make up text.
var systemPrograms = map[string]usage{
	"true":     {operands: ":"},
	"false":    {operands: ":"},
	"pwd":      {short: "LP", long: "logical physical"},
	"whoami":   {},
	"arch":     {},
	"logname":  {},
	"tty":      {short: "s", long: "silent quiet"},
	"uptime":   {short: "ps", long: "pretty since"},
	"groups":   {operands: ":"},
	"nproc":    {long: "all ignore:"},
	"printenv": {short: "0", operands: ":", long: "null"},
	"env":      {short: "0", long: "null"}, // with more words it starts a program
	"sleep":    {operands: ":"},
	"seq":      {short: "f:s:w", operands: ":", digits: true, long: "format: separator: equal-width"},
	"expr":     {operands: ":", digits: true},
	"yes":      {operands: ":"},
	"factor":   {operands: ":"},
	"getconf":  {short: "a", operands: ":"},
	"lscpu":    {short: "abce?p?J", long: "all online offline extended? parse? json"},
	"numfmt": {
		short: "d:z", operands: ":", digits: true,
		long: "delimiter: field: format: from: from-unit: grouping header? invalid: padding: round: suffix: to: to-unit: " +
			"unit-separator: zero-terminated debug",
	},
	"type": {short: "aftpP", operands: ":"},
	"uname": {
		short: "asnrvmpoi",
		long:  "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system",
	},
	"id": {
		short: "aGgnruzZ", operands: ":",
		long: "group groups name real user zero context",
	},
	"hostname": {short: "sfiIdA", long: "short long fqdn ip-address all-ip-addresses domain all-fqdns !file: !boot"},
	"free": {
		short: "bkmghltvwc:s:",
		long:  "bytes kilo mega giga kibi mebi gibi human lohi total wide count: seconds: si",
	},
	"date": {
		short: "d:f<I?Rr<u", operands: ":", also: onlyFormats,
		long: "date: file< iso-8601? rfc-email rfc-2822 rfc-3339: reference< utc universal uct resolution debug !set:",
	},
	"ps": {
		short: "eAfFlHLTuxajwo:p:C:", operands: ":", exact: true, also: onlyProcessLists,
		long: "sort: forest no-headers pid: ppid: format: width:",
	},
}

// onlyFormats refuses operands of date that set the clock.
func onlyFormats(r *reading) finding {
	for _, text := range r.operands {
		if !strings.HasPrefix(text, "+") {
			return r.unproven("shell.option", "date takes %q for the time to set; write a format with a plus, such as: date +%%F", text)
		}
	}
	return finding{}
}

// onlyProcessLists refuses the old bundles of ps that show environments.
func onlyProcessLists(r *reading) finding {
	for _, text := range r.operands {
		if !slices.Contains([]string{"aux", "ax", "axu", "auxw", "auxww", "axf", "auxf", "u", "x"}, text) {
			return r.unproven("shell.option", "ps %s is not known to be harmless; write ps aux or ps -ef", text)
		}
	}
	return finding{}
}
