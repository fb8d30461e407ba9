# Functions for scripts that download Debian packages; sourced, not run.

# packages_of GROUPS: names of the packages of these groups in scripts/packages.txt.
packages_of() {
  awk -v groups=" $1 " '
    /^\[/ { on = index(groups, " " substr($0, 2, length($0) - 2) " ") > 0; next }
    on && NF && !/^#/ { print $1 }' scripts/packages.txt
}

# debian_mirror CODENAME: the Debian mirror in this machine's apt sources, deb822 (*.sources) or one-line (*.list).
debian_mirror() {
  local suites="^($1|stable|oldstable)\$" files=()
  shopt -s nullglob
  files=(/etc/apt/sources.list.d/*.sources)
  [ ${#files[@]} -eq 0 ] || awk -v suites="$suites" '
    function flush() { if (deb && hit && uri != "") { print uri; found = 1; exit } deb = hit = 0; uri = "" }
    FNR == 1 || /^[ \t]*$/ { flush() }
    /^Types:/ { for (i = 2; i <= NF; i++) if ($i == "deb") deb = 1 }
    /^URIs:/ { uri = $2 }
    /^Suites:/ { for (i = 2; i <= NF; i++) if ($i ~ suites) hit = 1 }
    END { if (!found) flush() }' "${files[@]}"
  files=(/etc/apt/sources.list /etc/apt/sources.list.d/*.list)
  for file in "${files[@]}"; do
    [ -r "$file" ] || continue
    sed -n 's/\[[^]]*\]//; s/^deb[ \t]\{1,\}//p' "$file" | awk -v suites="$suites" '$2 ~ suites { print $1; exit }'
  done
}

# debian_apt SUITE FOLDER: sets `apt` to an apt-get command for this Debian release that keeps its state in the folder and
# assumes that nothing is installed. Fails if this machine has no mirror configured.
debian_apt() {
  local suite=$1 tmp=$2 codename mirror
  codename=$(. /etc/os-release; echo "${VERSION_CODENAME:-}")
  mirror=$(debian_mirror "$codename" | head -n 1)
  [ -n "$mirror" ] || return 1
  mkdir -p "$tmp"/state/lists/partial "$tmp"/cache/archives/partial
  : >"$tmp/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$tmp/sources.list"
  apt=(apt-get -qq -o Dir::State="$tmp/state" -o Dir::State::status="$tmp/status" -o Dir::Cache="$tmp/cache"
    -o Dir::Etc::SourceList="$tmp/sources.list" -o Dir::Etc::SourceParts=/dev/null -o APT::Sandbox::User=
    -o Acquire::Languages=none -o Acquire::Retries=3)
}
