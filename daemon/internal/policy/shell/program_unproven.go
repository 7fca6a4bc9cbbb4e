package shell

import (
	"path"
	"slices"
	"strings"
)

// class is a group of programs that have one grade for one reason. What is said
// follows the program's name, as says takes it.
type class struct {
	names string
	grade Grade
	says  string
	asks  bool // with --version alone it only says what it is
	moves bool // a file of credentials in the workspace may be among its operands
}

// classes are programs that no table of options can make harmless. An
// operator's rule can allow those that are only not proven.
var classes = []class{
	{
		names: "python python2 python3 perl ruby node nodejs php lua luajit tclsh wish expect guile racket ghci R Rscript julia deno bun " +
			"java scala groovy irb jshell osascript pwsh ipython ipython3 sqlite3 psql mysql mongo redis-cli",
		says: "runs programs of its own, which are not proven; use cat, grep, jq or another program that only reads", asks: true,
	},
	{
		names: "sh bash dash zsh ksh mksh fish ash csh tcsh rbash",
		says:  "runs a script that cannot be seen here; write its commands as the line itself", asks: true,
	},
	{
		names: "vim vi view nvim ex ed red rvim vimdiff emacs emacsclient nano pico joe micro kak hx",
		says:  "is an editor that can run commands and write any file; use the tool that edits files",
	},
	{
		names: "less more most pg man info bat batcat zless zmore tig",
		says:  "is a pager that can run commands; use cat, head or tail",
	},
	{
		names: "gdb lldb strace ltrace perf valgrind bpftrace ld.so rlwrap screen tmux",
		says:  "runs another program under its own rules, which is not proven; run that program itself",
	},
	{
		names: "gcc g++ cc c++ clang clang++ make gmake cmake",
		says:  "runs what the project's files say, which is not proven; say that a rule of the person's can allow it", asks: true,
	},
	{
		names: "go gofmt cargo rustc rustup npm npx yarn pnpm corepack pip pip2 pip3 pipx pipenv poetry uv uvx tox pytest nox gem bundle " +
			"bundler rake rails composer phpunit mvn gradle gradlew ant sbt javac dotnet msbuild ninja meson scons bazel buck tsc " +
			"ts-node tsx jest vitest mocha eslint prettier webpack vite rollup ld as ar ranlib nm objdump objcopy readelf size " +
			"autoconf automake configure pkg-config swift swiftc xcodebuild zig ghc cabal stack mix elixir erl rebar3 nix just task " +
			"pre-commit terraform ansible ansible-playbook vagrant packer helm latex pdflatex xelatex tex pandoc",
		says: "runs what the project's files say, which is not proven; say that a rule of the person's can allow it",
	},
	{
		names: "zip unzip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd 7z 7za rar unrar cpio zcat bzcat xzcat zgrep lz4 pax " +
			"ditto dpkg-deb rpm2cpio",
		says: "unpacks, packs or starts other programs, which is not proven; write tar -tf ARCHIVE to look into an archive",
	},
	{
		names: "rm rmdir unlink truncate chmod chown chgrp chattr setfacl mkfifo mknod mktemp rename sync fallocate " +
			"patch csplit dos2unix unix2dos",
		says: "changes or removes files, which is not proven; use the tools for files, or ask for it", moves: true,
	},
	{
		names: "dd",
		says:  "can fill or overwrite anything; use head -c or tail -c to look at a part of a file",
	},
	{
		names: "apt apt-get aptitude dpkg rpm yum dnf pacman apk brew snap flatpak zypper emerge conda mamba asdf mise nvm pyenv",
		says:  "changes what is installed, which is not proven; work with the programs that are there",
	},
	{
		names: "docker podman nerdctl kubectl crictl runc crun buildah skopeo nsenter lxc virsh qemu-system-x86_64",
		says:  "reaches another machine or container, which is not proven; work in this one",
	},
	{
		names: "parallel entr inotifywait cowsay cowthink gimp dialog whiptail facter puppet capsh ctags cscope dmesg dnsmasq " +
			"dvips eqn fzf genie ghostscript gs gtester ionice jjs jrunscript ldd logsave look mail mailx msgfmt nroff octave " +
			"openssl gpg gpg2 pic pdb pry rview run-mailcap run-parts start-stop-daemon tasksel " +
			"tcpdump troff groff unshare update-alternatives whois wireshark tshark xdotool zsoelim " +
			"sdiff script scriptreplay watch ptx tabs",
		says: "is known to run commands or to write files by its options; use a program that only reads",
	},
	{
		names: "kill pkill killall killall5 skill xkill", grade: Unsafe,
		says: "ends processes, which nothing allows unasked; leave them, for what a command leaves behind is ended anyway",
	},
	{
		names: "reboot halt poweroff shutdown init telinit systemctl systemd-run loginctl service launchctl rc-service", grade: Unsafe,
		says: "manages the machine, which nothing allows unasked; do without it",
	},
	{
		names: "crontab at batch anacron atd", grade: Unsafe,
		says: "runs commands later, when nobody judges them; run them now, or not at all",
	},
	{
		names: "sudo su doas pkexec runuser setpriv passwd chpasswd chsh chfn useradd userdel usermod groupadd visudo vipw newgrp", grade: Unsafe,
		says: "changes who may do what, which nothing allows unasked; do without it",
	},
	{
		names: "mount umount swapon swapoff losetup insmod rmmod modprobe iptables ip6tables nft sysctl " +
			"cryptsetup hdparm debugfs kexec", grade: Unsafe,
		says: "changes the machine or its disks, which nothing allows unasked; do without it",
	},
}

// moving are the programs that give files another name, or make them twice. Under
// the new name credentials would be known no more.
const moving = "changes or removes files, which is not proven; use the tools for files, or ask for it"

func moved(c call) finding {
	f := c.unproven("shell.program", "%s "+moving, c.argv[0])
	from := c
	into := slices.ContainsFunc(c.argv, func(word string) bool { return strings.HasPrefix(word, "-t") || strings.HasPrefix(word, "--t") })
	if n := len(c.argv); n > 2 && !into { // an .env that is made of another file is none yet
		from.argv = c.argv[:n-1]
		if abs, inside := c.place.resolveRead(c.argv[n-1]); secret(abs) && !inside {
			return c.leaks(c.argv[n-1])
		}
	}
	c.changes(destinations(c.argv))
	return from.orSecret(f, false)
}

// destinations are the words that name what mv, cp and their like write: the last
// one, or the value of -t, and for mv also what goes from where it was. Into a
// folder that is written as one go the names of the others.
func destinations(argv []string) []string {
	operands, into := []string{}, ""
	for i := 1; i < len(argv); i++ {
		switch word := argv[i]; {
		case word == "-t" || word == "--target-directory":
			if i+1 < len(argv) {
				i++
				into = argv[i]
			}
		case strings.HasPrefix(word, "--t"):
			_, into, _ = strings.Cut(word, "=")
		case strings.HasPrefix(word, "-t"):
			into = word[2:]
		case strings.HasPrefix(word, "-") && len(word) > 1:
		default:
			operands = append(operands, word)
		}
	}
	found := slices.Clone(operands)
	if n := len(operands); into == "" && n > 0 {
		into, operands = operands[n-1], operands[:n-1]
	}
	if argv[0] != "mv" {
		found = nil
	}
	found = append(found, into)
	if strings.HasSuffix(into, "/") || into == "." || into == ".." || strings.HasSuffix(into, "/.") {
		for _, word := range operands {
			found = append(found, into+"/"+path.Base(word))
		}
	}
	return found
}

// program is what all of a class are judged by.
func (k class) program() program {
	grade := max(k.grade, Unproven)
	return func(c call) finding {
		if k.asks && len(c.argv) == 2 && c.argv[1] == "--version" {
			return finding{}
		}
		if k.moves {
			c.changes(c.argv[1:])
		}
		return c.orSecret(finding{grade, "shell.program", says("%s "+k.says, c.argv[0])}, k.moves)
	}
}
