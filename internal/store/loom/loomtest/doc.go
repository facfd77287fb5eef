// Package loomtest writes workspaces in the layout of Loom's design, for tests. What
// it writes is what Step.to_dict of loom-py and the messages of the design give
// (loom-os/loom c34e1de): no Loom is known that writes such folders itself.
package loomtest
