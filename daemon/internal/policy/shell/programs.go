package shell

import "fmt"

// programs is every program that is known, by the name that it is called by. A
// program that is missing is not proven.
var programs = map[string]program{}

func init() {
	for name, what := range map[string]string{
		"kill": "ends processes", "pkill": "ends processes", "killall": "ends processes",
		"reboot": "stops the machine", "halt": "stops the machine", "poweroff": "stops the machine", "shutdown": "stops the machine",
		"systemctl": "manages services", "service": "manages services",
		"crontab": "runs commands later", "at": "runs commands later", "batch": "runs commands later",
	} {
		programs[name] = always(Unsafe, "%s "+what+"; only a person may allow that, so do without it")
	}
}

// always gives every call of a program one grade. The reason takes the name.
func always(grade Grade, reason string) program {
	return func(c call) finding {
		return finding{grade: grade, rule: "shell.program", reason: fmt.Sprintf(reason, c.argv[0])}
	}
}
