# bash completion of bothy. Its words come from bothy itself.
_bothy() {
	local cur=${COMP_WORDS[COMP_CWORD]} word rest
	[[ $cur != "=" && $cur != ":" ]] || cur=
	COMPREPLY=()
	while IFS=$'\t' read -r word rest; do
		case $word in
		:files)
			compopt -o filenames
			while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
			;;
		:dirs)
			compopt -o filenames
			while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$cur")
			;;
		*) COMPREPLY+=("$word") ;;
		esac
	done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _bothy bothy
