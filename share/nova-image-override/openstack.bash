# Completes overrides for openstack in bash: the names and values that this
# cloud lets you override, and its presets, asked for once in each shell and
# cloud, or until the cloud answers. Source it after what "openstack complete"
# prints, which completes everything else.

# Complete WORD with those of the lines FOUND that begin with it.
_openstack_image_prop_matching() {
    local word=$1 found=$2 each
    COMPREPLY=()
    # Not compgen -W, which expands words.
    while read -r each; do
        [[ ! $each || $each != "$word"* ]] || COMPREPLY+=("$each")
    done <<< "$found"
}

_openstack_image_prop_override() {
    local line=${COMP_LINE:0:COMP_POINT} word before found
    word=${line##*[[:space:]]}
    read -ra before <<< "${line%"$word"}"
    if [[ $word != -* && ${before[-1]} == --image-prop-override-preset ]]; then
        if [[ ${_OPENSTACK_PRESETS-} != "${OS_CLOUD-} "?* ]]; then
            _OPENSTACK_PRESETS="${OS_CLOUD-} $(openstack image override \
                preset list -f value -c Name 2> /dev/null |
                LC_ALL=C grep -E '^[A-Za-z0-9_.-]+$')"
        fi
        _openstack_image_prop_matching "$word" "${_OPENSTACK_PRESETS#* }"
        return
    fi
    if [[ $word == -* || ${before[-1]} != --image-prop-override &&
            " ${before[*]} " != *' image override check '* ]]; then
        if declare -F _openstack > /dev/null; then
            _openstack
        fi
        return
    fi
    if [[ ${_OPENSTACK_OVERRIDES-} != "${OS_CLOUD-} "?* ]]; then
        # Lines such as: hw_disk_bus ['ide', 'scsi']; a description of values
        # has blanks, and names of families end with what users choose. What
        # the shell would read as more than a word is not offered: whoever
        # completes it would run it.
        _OPENSTACK_OVERRIDES="${OS_CLOUD-} $(openstack image override list \
            -f value -c Property -c Values 2> /dev/null |
            LC_ALL=C awk -F "'" '{
                split($0, name, " ")
                sub(/(N|NAME)$/, "", name[1])
                print name[1] (name[1] ~ /[.:]$/ ? "" : "=")
                for (i = 2; i <= NF && name[1] !~ /[.:]$/; i += 2)
                    print name[1] "=" $i
            }' | LC_ALL=C grep -E '^[A-Za-z0-9_.:]+(=[A-Za-z0-9_.:,-]*)?$')"
    fi
    found=${_OPENSTACK_OVERRIDES#* }
    case " ${before[*]} " in
        *' server list '* | *' server unset '*)
            found=$(sed -e 's/=.*//' <<< "$found" | uniq) ;;
    esac
    _openstack_image_prop_matching "$word" "$found"
    found=$(printf '%s\n' "${COMPREPLY[@]}")
    if [[ $word == *=* ]]; then
        found=$(sed -e '/=$/d' <<< "$found")
    elif [[ $found == *=* ]]; then
        # Names first, and no blank after them.
        found=$(sed -e 's/=.*/=/' <<< "$found" | uniq)
        compopt -o nospace 2> /dev/null
    fi
    COMPREPLY=()
    if [[ $found ]]; then
        mapfile -t COMPREPLY <<< "$found"
    fi
    # readline has what is before a "=" or ":" already.
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[=:]}"}"}")
}
complete -F _openstack_image_prop_override openstack
