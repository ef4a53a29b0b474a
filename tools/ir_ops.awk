# ir/ops.def -> docs/IR_OPS.md: one table for each section of the op table. A row is
# OP(ID, "name", LEVELS, "operands", "attributes", RULE, DOMAIN, TRAITS, "meaning"), so that quotes divide it.
BEGIN {
    FS = "\""
    print "# Ops of the IR\n"
    print "Made by `make docs` from `ir/ops.def`; edit that. `docs/IR.md` describes the text form, `docs/OPS.md` the ops of model files.\n"
    print "Operands: `name*` any number, `name?` none or one. Attributes: `name?` may be absent. Levels: *composite* as the frontend"
    print "leaves it, *tensor* after `decompose`, *tile* after `tile`, *layout* after `layout`."
}
function level(text) {
    text = tolower(text)
    gsub(/[ ,]|level_/, "", text)
    gsub(/all_tile/, "tile, layout", text)
    gsub(/all_tensor/, "composite, tensor", text)
    gsub(/\|/, ", ", text)
    return text
}
function traits(text, n, part) {
    n = split(text, part, ",")
    text = tolower(part[4])
    gsub(/^ +| +$/, "", text)
    gsub(/ *\| */, ", ", text)
    gsub(/_/, " ", text)
    return text == "0" ? "" : text
}
function code(text) { return text == "" ? "" : "`" text "`" }
function cell(text) { gsub(/\|/, "\\|", text); return text }
/^\/\/ ----/ {
    title = substr($0, 9)
    sub(/\..*/, "", title)
    print "\n## " toupper(substr(title, 1, 1)) substr(title, 2) "\n"
    print "| op | operands | attributes | levels | traits | meaning |"
    print "| --- | --- | --- | --- | --- | --- |"
}
/^OP\(/ {
    if (NF != 9) { print "tools/ir_ops.awk: ir/ops.def:" NR ": a row has four strings" > "/dev/stderr"; exit 1 }
    printf "| `%s` | %s | %s | %s | %s | %s |\n", $2, code($4), code($6), level($3), traits($7), cell($8)
    rows++
}
END { if (!rows) exit 1 }
