package shell

// The lists are in the notation of said.
const provenCalls = `
ls
ls -la docs
ls -lah --color=auto --sort=size -I *.o src
ls --col=auto
ls .env
ls -- -la
cat a ./b c/../d /workspace/e
cat -
cat -- -n
cat /dev/null
head -5 a
head -n 5 -c10 a
head --lines=5 a
head --lines 5 a
tail -20 a
tail -fn3 a
tail +3
wc -l a
grep -rn foo
grep -rnE a;b f
grep -e a -e b f
grep --include=*.go -r foo src
grep -A3 -B 2 -5 foo a
grep -- -v a
grep /etc/hosts a
egrep a|b f
fgrep a f
rg -n foo src
rg -e foo -g *.go
rg --files
fd -e go . src
find
find . -name *.go -type f -not -path ./vendor/*
find src docs ( -name a -o -name b ) -print0
find . -maxdepth 2 -newer a -printf %p
echo hi -- -e * $x
printf %s\n a b
printf -- -v
printf %%n
pwd -P
which ls
type -a ls
test -f a -a -d b
test 5 -gt 3
[ a = b ]
[ -n x ]
true
false
basename /etc/x/y .y
dirname /etc/x
realpath a/../b
readlink -f a
stat -c %s a
file -b --mime-type a
du -sh .
df -h
uname -a
date
date +%F
date -u -d yesterday +%s
date -r a
id -un
whoami
hostname
hostname -s
env
printenv PATH
sort -k2,2n -t, a
sort -u -
sort --rev a
uniq -c
uniq -c a
uniq -1 a
cut -d: -f1 a
cut -d : -f 1 a
tr a-z A-Z
nl -ba a
tac a
rev a
fold -w80 a
fmt -80 a
paste -d, a b
join -1 2 -2 1 a b
comm -12 a b
column -t -s, a
expand -t 4 a
cmp -s a b
diff -u a b
diff -u3 -r --exclude=.git a b
sha256sum -c sums
md5sum a
cksum a
od -A x -t x1z a
hexdump -C a
xxd -l 16 a
strings -n 8 a
base64 -d a
seq 5 -1 1
expr 1 + 2
tee
sleep 1
yes
tree -a -L 2
jq . a.json
jq -r .a,.b a.json
jq -n --arg x 1 $x
jq --slurpfile x a.json .
jq . include.json
sed -n 1,5p a
sed -n 5p a
sed -n $p a
sed -n 1,5p;7p a
sed -nE 2,+3p a
tar -tf a.tar
tar -tvzf a.tgz b
tar tf a.tar
tar --list --file=a.tar
git --version
git status
git status -sb --porcelain=v1
git -C src log
git --no-pager log --oneline -5
git log -n 5 --format=%h_%s -- src
git log -p -S foo --stat
git log --since=yesterday --author=bob
git diff
git diff HEAD~3..HEAD -- a
git diff --cached --name-only
git diff -U3 --no-ext-diff
git show HEAD:a.go
git show --stat
git branch
git branch -avv
git branch --show-current
git branch --list foo
git branch --merged main
git tag
git tag -l v*
git tag --sort=-creatordate
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git ls-files
git ls-files -o --exclude-standard
git ls-tree -r HEAD
git blame -L 1,5 a
git describe --tags
git remote
git remote -v
git shortlog -sn HEAD
git cat-file -p HEAD
git grep -n foo
git grep -e foo -- src
git config --get user.name
git config --list
git config user.name
git stash list
git reflog
git merge-base a b
git check-ignore -v .env
git rev-list --count HEAD
python3 --version
gcc --version
ps aux
ps -ef
shuf -n 3 a
`

const containedCalls = `
ls -- &*
ls &*
cat &*.go
echo &*
sed s/a/b/ f
sed 1p a
awk 1 a
awk {print_$1} a
cat -- &src/*.go
grep -- foo &*.go
sort -o f a
sort -of a
sort --output=f a
sort --outp f a
sort -T tmp a
uniq a out
tee out
tee -a out src/out
tee out /dev/null
split a
split -l 10 a src/part-
mkdir -p a/b
mkdir --parents a
touch a b
touch -r a b
xxd a out
xxd - -g
xxd -ps a --frob
xxd -r -p a out
tree -o out
shuf -o out a
`
