# fish completion of bothy. Its words come from bothy itself.
function __bothy_complete
	set -l words (commandline -opc)
	set -l cur (commandline -ct)
	for line in ($words[1] __complete fish $words[2..-1] "$cur" 2>/dev/null)
		switch $line
			case :files
				__fish_complete_path "$cur"
			case :dirs
				__fish_complete_directories "$cur"
			case '*'
				echo $line
		end
	end
end
complete -c bothy -f -a '(__bothy_complete)'
