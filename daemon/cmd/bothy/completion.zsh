#compdef bothy
# zsh completion of bothy. Its words come from bothy itself.
_bothy() {
	local -a found
	local word rest
	while IFS=$'\t' read -r word rest; do
		case $word in
		:files) _files ;;
		:dirs) _files -/ ;;
		*) found+=("${word//:/\\:}${rest:+:$rest}") ;;
		esac
	done < <(${~words[1]} __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)
	(( ! $#found )) || _describe -t words bothy found
}
if [[ $funcstack[1] == _bothy ]]; then
	_bothy "$@"
else
	compdef _bothy bothy
fi
