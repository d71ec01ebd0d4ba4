//! Lists the places of a crate where one small change makes a mutant, as JSON for `benches/mutants/rust_mutants.py`.
//!
//! `cogtcp-mutant-sites DIR ...` reads `DIR/src/lib.rs` and every module that it names, without those of tests. A mutant
//! is a span of its file and the parts of the text that replaces it: strings, and spans of the file again. In a
//! span that is marked `true` further mutants may be switched; `ON` stands for the question whether the mutant is on.

use std::path::Path;
use std::{env, fs, process};

use proc_macro2::Span;
use serde_json::{Value, json};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Item, Lit, Stmt};

fn main() {
    let mut found = Vec::new();
    for directory in env::args().skip(1) {
        let root = Path::new(&directory).join("src/lib.rs");
        if let Err(message) = list(&root, root.parent().expect("in src"), &mut found) {
            eprintln!("{message}");
            process::exit(1);
        }
    }
    println!("{}", Value::Array(found));
}

/// Lists the mutants of `path` and of the modules that it names, whose files lie in `folder`.
fn list(path: &Path, folder: &Path, found: &mut Vec<Value>) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file = syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut sites = Sites { text: &text, path, context: Vec::new(), found };
    sites.visit_file(&file);
    for (name, is_elsewhere) in modules(&file.items) {
        if let Some(other) = is_elsewhere {
            return Err(format!("{}: module {name} has a path of its own ({other})", path.display()));
        }
        let flat = folder.join(format!("{name}.rs"));
        let nested = folder.join(&name);
        let at = if flat.is_file() { flat } else { nested.join("mod.rs") };
        list(&at, &nested, found)?;
    }
    Ok(())
}

/// Modules in files of their own, without those of tests.
fn modules(items: &[Item]) -> Vec<(String, Option<String>)> {
    let mut names = Vec::new();
    for item in items {
        if let Item::Mod(module) = item
            && module.content.is_none()
            && !is_test(&module.attrs)
        {
            let path = module.attrs.iter().find(|attribute| attribute.path().is_ident("path"));
            names.push((module.ident.to_string(), path.map(|_| "#[path]".to_owned())));
        }
    }
    names
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().contains("test")))
    })
}

struct Sites<'a> {
    text: &'a str,
    path: &'a Path,
    context: Vec<String>,
    found: &'a mut Vec<Value>,
}

/// A part of a mutant's text.
enum Part {
    Text(String),
    /// A span of the file as it is.
    Plain(Span),
    /// A span of the file in which further mutants may be switched.
    Switched(Span),
}

fn text(part: &str) -> Part {
    Part::Text(part.to_owned())
}

impl Sites<'_> {
    fn source(&self, span: Span) -> &str {
        &self.text[span.byte_range()]
    }

    /// The text of `span` in one line, shortened.
    fn snippet(&self, span: Span) -> String {
        let words: Vec<&str> = self.source(span).split_whitespace().collect();
        let line = words.join(" ");
        match line.char_indices().nth(70) {
            Some((end, _)) => format!("{}...", &line[..end]),
            None => line,
        }
    }

    fn add(&mut self, kind: &str, what: &str, span: Span, parts: Vec<Part>) {
        let parts: Vec<Value> = parts
            .into_iter()
            .map(|part| match part {
                Part::Text(text) => json!(text),
                Part::Plain(span) => json!([span.byte_range().start, span.byte_range().end, false]),
                Part::Switched(span) => json!([span.byte_range().start, span.byte_range().end, true]),
            })
            .collect();
        let range = span.byte_range();
        self.found.push(json!({
            "file": self.path.to_string_lossy(),
            "line": span.start().line,
            "start": range.start,
            "end": range.end,
            "kind": kind,
            "what": what,
            "in": self.context.join("::"),
            "parts": parts,
        }));
    }

    /// A condition that always holds, or never.
    fn fix_condition(&mut self, condition: &Expr, holds: bool) {
        if matches!(condition, Expr::Let(_)) {
            return;
        }
        let span = condition.span();
        let (question, word) = if holds { ("(ON || (", "always") } else { ("(!ON && (", "never") };
        let what = format!("`{}` holds {word}", self.snippet(span));
        self.add("condition", &what, span, vec![text(question), Part::Switched(span), text("))")]);
    }

    /// The condition of a branch, unless it is made of several, which are mutated one by one.
    fn branch(&mut self, condition: &Expr, both: bool) {
        if matches!(condition, Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_))) {
            return;
        }
        if both {
            self.fix_condition(condition, true);
        }
        self.fix_condition(condition, false);
    }

    fn operand(&mut self, operand: &Expr, is_and: bool) {
        let same = matches!(operand, Expr::Binary(inner) if matches!(
            (&inner.op, is_and), (BinOp::And(_), true) | (BinOp::Or(_), false)));
        if !same {
            self.fix_condition(operand, is_and);
        }
    }

    fn instead(&mut self, kind: &str, what: &str, span: Span, mutated: Vec<Part>) {
        let mut parts = vec![text("(if ON { ")];
        parts.extend(mutated);
        parts.extend([text(" } else { "), Part::Switched(span), text(" })")]);
        self.add(kind, what, span, parts);
    }
}

impl<'ast> Visit<'ast> for Sites<'_> {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_variant(&mut self, _: &'ast syn::Variant) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = self.snippet(item.self_ty.span());
        let name = match &item.trait_ {
            Some((_, path, _)) => {
                // What a `{:?}` shows is no behaviour.
                if path.segments.last().is_some_and(|last| last.ident == "Debug") {
                    return;
                }
                format!("<{of} as {}>", self.snippet(path.span()))
            }
            None => of,
        };
        self.context.push(name);
        visit::visit_item_impl(self, item);
        self.context.pop();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.context.push(item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.context.pop();
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if item.sig.constness.is_none() && !is_test(&item.attrs) {
            self.context.push(item.sig.ident.to_string());
            visit::visit_item_fn(self, item);
            self.context.pop();
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_none() && !is_test(&item.attrs) {
            self.context.push(item.sig.ident.to_string());
            visit::visit_impl_item_fn(self, item);
            self.context.pop();
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.context.push(item.sig.ident.to_string());
        visit::visit_trait_item_fn(self, item);
        self.context.pop();
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement {
            let is_effect = match expression {
                Expr::Assign(_) | Expr::MethodCall(_) | Expr::Call(_) => true,
                Expr::Binary(binary) => is_compound(&binary.op),
                _ => false,
            };
            if is_effect {
                let span = statement.span();
                let what = format!("`{}` is skipped", self.snippet(span));
                self.add("statement", &what, span, vec![text("if !ON { "), Part::Switched(span), text(" }")]);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, item: &'ast syn::ExprIf) {
        self.branch(&item.cond, true);
        visit::visit_expr_if(self, item);
    }

    fn visit_expr_while(&mut self, item: &'ast syn::ExprWhile) {
        self.branch(&item.cond, false);
        visit::visit_expr_while(self, item);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.branch(guard, true);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        match binary.op {
            BinOp::And(_) | BinOp::Or(_) => {
                let is_and = matches!(binary.op, BinOp::And(_));
                self.operand(&binary.left, is_and);
                self.operand(&binary.right, is_and);
            }
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                let moved = match binary.op {
                    BinOp::Lt(_) => "<=",
                    BinOp::Le(_) => "<",
                    BinOp::Gt(_) => ">=",
                    _ => ">",
                };
                let span = binary.span();
                let what = format!("`{}` with {moved}", self.snippet(span));
                let mutated = vec![
                    Part::Plain(binary.left.span()),
                    text(&format!(" {moved} ")),
                    Part::Plain(binary.right.span()),
                ];
                self.instead("bound", &what, span, mutated);
            }
            _ => {}
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        let is_bound = matches!((name.as_str(), call.args.len()), ("min" | "max", 1) | ("clamp", 2));
        if is_bound {
            let span = call.span();
            let what = format!("`{}` without .{name}", self.snippet(span));
            self.instead("bound", &what, span, vec![Part::Plain(call.receiver.span())]);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_lit(&mut self, literal: &'ast syn::ExprLit) {
        let changed = match &literal.lit {
            Lit::Int(int) => match int.base10_parse::<u128>() {
                Ok(value) if value < 16 => format!("{}{}", value + 1, int.suffix()),
                Ok(value) => format!("{}{}", value * 2, int.suffix()),
                Err(_) => return,
            },
            Lit::Float(float) => match float.base10_parse::<f64>() {
                Ok(0.0) => format!("1.0{}", float.suffix()),
                Ok(value) => format!("{:?}{}", value * 2.0, float.suffix()),
                Err(_) => return,
            },
            Lit::Bool(bool) => (!bool.value).to_string(),
            _ => return,
        };
        let span = literal.span();
        let what = format!("{} for {}", changed, self.snippet(span));
        self.instead("literal", &what, span, vec![text(&changed)]);
    }
}

fn is_compound(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}
