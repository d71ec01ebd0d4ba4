// The editor of the scenario: CodeMirror with TOML, completion and marks of errors. It knows nothing of scenarios.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, defaultHighlightStyle, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Annotation, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const fromOutside = Annotation.define();

const colors = HighlightStyle.define([
  { tag: tags.comment, color: "var(--muted)" },
  { tag: tags.string, color: "var(--series-3)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--series-1)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--series-2)" },
]);
const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--soft)", border: "1px solid var(--grid)", borderRadius: "4px", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'Cascadia Mono', Menlo, Consolas, monospace", lineHeight: "1.45", maxHeight: "36rem", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", minHeight: "24rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--soft)", color: "var(--muted)", borderRight: "1px solid var(--grid)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "color-mix(in srgb, var(--accent) 28%, transparent) !important" },
  ".cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--paper)", border: "1px solid var(--grid)" },
  ".cm-completionInfo": { maxWidth: "24rem" },
});

/**
 * Makes an editor in `host`. `complete(text, at)` returns `{ from, options }` or null; `changed(text)` hears what is typed.
 * The editor sits in a shadow root: its styles are then no style elements, which the page's policy forbids.
 */
export function createEditor(host, { text, label, complete, changed }) {
  const root = host.attachShadow({ mode: "open" });
  const completion = (context) => {
    const found = complete(context.state.doc.toString(), context.pos);
    if (!found || !found.options.length) return null;
    const typed = context.pos > found.from;
    return context.explicit || typed ? { ...found, validFor: /^[\w-]*$/ } : null;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), lintGutter(), history(), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(),
        StreamLanguage.define(toml), syntaxHighlighting(colors), syntaxHighlighting(defaultHighlightStyle, { fallback: true }), theme,
        autocompletion({ override: [completion] }),
        // Tab leaves the editor: it is no trap for the keyboard.
        keymap.of([...completionKeymap, ...closeBracketsKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((each) => each.annotation(fromOutside))) changed(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    view,
    get text() { return view.state.doc.toString(); },
    /** Replaces the text, without a call of `changed`; the cursor stays where it can. */
    set text(next) {
      const now = this.text;
      if (next === now) return;
      let from = 0, end = now.length, to = next.length;
      while (from < end && from < to && now[from] === next[from]) from++;
      while (end > from && to > from && now[end - 1] === next[to - 1]) { end--; to--; }
      view.dispatch({ changes: { from, to: end, insert: next.slice(from, to) }, annotations: fromOutside.of(true) });
    },
    /** Marks errors: line and column from 1, the length of what is underlined, and a message. */
    mark(errors) {
      const { doc } = view.state;
      view.dispatch(setDiagnostics(view.state, errors.filter((error) => error.line >= 1 && error.line <= doc.lines).map((error) => {
        const line = doc.line(error.line), from = Math.min(line.to, line.from + Math.max(0, error.column - 1));
        return { from, to: Math.max(from, Math.min(line.to, from + error.length)), severity: "error", message: error.message };
      })));
    },
    get focused() { return view.hasFocus; },
    focus() { view.focus(); },
  };
}
