(** KK-LPAV: the nearest fit on a chain, nondecreasing and with steps that are bounded: it exists, alone, and stays in the range of the labels. *)

From Simopt Require Import Spaces.
From Coq Require Classical_Prop.
Open Scope R_scope.

(** * KK-LPAV: the projection on a chain of two, nondecreasing and 1-Lipschitz *)

Definition pooled (d y1 y2 : R) : R * R :=
  if Rlt_dec y2 y1 then ((y1 + y2) / 2, (y1 + y2) / 2) else if Rlt_dec d (y2 - y1) then ((y1 + y2 - d) / 2, (y1 + y2 + d) / 2) else (y1, y2).
Definition in_chain (d : R) (u : R * R) : Prop := 0 <= snd u - fst u <= d.
Definition squares (y1 y2 : R) (u : R * R) : R := (fst u - y1) ^ 2 + (snd u - y2) ^ 2.

Theorem KK_LPAV_two d y1 y2 : 0 <= d -> in_chain d (pooled d y1 y2) /\ forall u, in_chain d u -> squares y1 y2 (pooled d y1 y2) <= squares y1 y2 u.
Proof.
  intros D. unfold pooled, in_chain, squares. destruct (Rlt_dec y2 y1) as [L|L]; [|destruct (Rlt_dec d (y2 - y1)) as [M|M]]; cbn [fst snd];
    (split; [lra|]); intros [u1 u2]; cbn [fst snd]; intros U.
  - generalize (pow2_ge_0 (u1 + u2 - y1 - y2)). intros. assert (0 <= (u2 - u1) * (y1 - y2)) by (apply Rmult_le_pos; lra).
    generalize (pow2_ge_0 (u2 - u1)). intros. lra.
  - generalize (pow2_ge_0 (u1 + u2 - y1 - y2)) (pow2_ge_0 (u2 - u1 - d)). intros.
    assert (0 <= (d - (u2 - u1)) * (y2 - y1 - d)) by (apply Rmult_le_pos; lra). lra.
  - generalize (pow2_ge_0 (u1 - y1)) (pow2_ge_0 (u2 - y2)). intros. lra.
Qed.

(** A chain of any length: y_0, ..., y_n, steps between 0 and d_i. *)
Fixpoint upto (n : nat) (g : nat -> R) : R := match n with O => g O | S m => upto m g + g (S m) end.
Definition on_chain (n : nat) (d u : nat -> R) : Prop := forall i, (i < n)%nat -> 0 <= u (S i) - u i <= d i.
Definition apart_squared (n : nat) (u v : nat -> R) : R := upto n (fun i => (u i - v i) ^ 2).

(** What Karush, Kuhn and Tucker ask of a fit f: partial sums of f - y end at 0, are positive only where a step is largest, and negative only
    where it is 0. Such a fit is the only nearest one. *)
Definition stationary (n : nat) (d y f : nat -> R) : Prop :=
  upto n (fun i => f i - y i) = 0 /\ forall i, (i < n)%nat ->
    (0 < upto i (fun j => f j - y j) -> f (S i) - f i = d i) /\ (upto i (fun j => f j - y j) < 0 -> f (S i) = f i).

Theorem KK_LPAV_any n d y f : on_chain n d f -> stationary n d y f ->
  forall u, on_chain n d u -> apart_squared n f y + apart_squared n u f <= apart_squared n u y.
Proof.
  intros F [Z K] u U.
  assert (P : forall m, (m <= n)%nat -> upto m (fun i => f i - y i) * (u m - f m) <= upto m (fun i => (f i - y i) * (u i - f i))).
  { intros m. induction m as [|m IH]; intros M; cbn [upto]; [lra|]. specialize (IH ltac:(lia)). specialize (K m ltac:(lia)).
    specialize (U m ltac:(lia)). specialize (F m ltac:(lia)). destruct K as [A B]. set (t := upto m (fun i => f i - y i)) in *.
    assert (t * (u (S m) - f (S m) - (u m - f m)) <= 0).
    { destruct (Rtotal_order t 0) as [T|[T|T]].
      - specialize (B T). assert (0 <= - t * (u (S m) - f (S m) - (u m - f m))) by (apply Rmult_le_pos; lra). lra.
      - rewrite T. lra.
      - specialize (A T). assert (0 <= t * (d m - (u (S m) - u m))) by (apply Rmult_le_pos; lra).
        replace (u (S m) - f (S m) - (u m - f m)) with (- (d m - (u (S m) - u m))) by lra. lra. }
    replace ((t + (f (S m) - y (S m))) * (u (S m) - f (S m)))
      with (t * (u m - f m) + t * (u (S m) - f (S m) - (u m - f m)) + (f (S m) - y (S m)) * (u (S m) - f (S m))) by ring. lra. }
  specialize (P n (le_n n)). rewrite Z, Rmult_0_l in P.
  assert (E : forall m, apart_squared m u y = apart_squared m f y + apart_squared m u f + 2 * upto m (fun i => (f i - y i) * (u i - f i))).
  { intros m. unfold apart_squared. induction m as [|m IH]; cbn [upto]; [ring|]. rewrite IH. ring. }
  rewrite E. lra.
Qed.

(** * Existence: fits that are nearly as near as can be are near each other, and the reals are complete *)

Definition nearest (n : nat) (d y f : nat -> R) : Prop := on_chain n d f /\ forall u, on_chain n d u -> apart_squared n f y <= apart_squared n u y.

Lemma upto_le n g h : (forall i, (i <= n)%nat -> g i <= h i) -> upto n g <= upto n h.
Proof. intros H. induction n as [|n IH]; cbn [upto]; [now apply H|]. apply Rplus_le_compat; [apply IH; intros; apply H; lia | now apply H]. Qed.

Lemma upto_scale n c g : upto n (fun i => c * g i) = c * upto n g.
Proof. induction n as [|n IH]; cbn [upto]; [easy|]. rewrite IH. ring. Qed.

Lemma upto_add n g h : upto n (fun i => g i + h i) = upto n g + upto n h.
Proof. induction n as [|n IH]; cbn [upto]; [easy|]. rewrite IH. ring. Qed.

Lemma upto_constant n c : upto n (fun _ => c) = INR (S n) * c.
Proof. induction n as [|n IH]; cbn [upto]; [simpl; ring|]. rewrite IH, (S_INR (S n)). ring. Qed.

Lemma squares_positive n u v : 0 <= apart_squared n u v.
Proof. unfold apart_squared. induction n as [|n IH]; cbn [upto]; [apply pow2_ge_0|]. generalize (pow2_ge_0 (u (S n) - v (S n))). lra. Qed.

Lemma one_of_many n u v i : (i <= n)%nat -> (u i - v i) ^ 2 <= apart_squared n u v.
Proof.
  intros I. induction n as [|n IH]; [replace i with 0%nat by lia; apply Rle_refl|]. unfold apart_squared in *. cbn [upto].
  destruct (Nat.eq_dec i (S n)) as [->|N].
  - generalize (squares_positive n u v). unfold apart_squared. lra.
  - generalize (IH ltac:(lia)) (pow2_ge_0 (u (S n) - v (S n))). lra.
Qed.

Lemma halfway n d u v y : on_chain n d u -> on_chain n d v -> on_chain n d (fun i => (u i + v i) / 2) /\
  apart_squared n u v = 2 * apart_squared n u y + 2 * apart_squared n v y - 4 * apart_squared n (fun i => (u i + v i) / 2) y.
Proof.
  intros U V. split; [intros i I; generalize (U i I) (V i I); lra|]. clear U V. unfold apart_squared. induction n as [|n IH]; cbn [upto]; [field|].
  rewrite IH. field.
Qed.

Section Exists.
Context (n : nat) (d y : nat -> R) (d_positive : forall i, (i < n)%nat -> 0 <= d i).
Let values (x : R) : Prop := exists u, on_chain n d u /\ x = - apart_squared n u y.
Let greatest : { m | is_lub values m }.
Proof.
  apply completeness.
  - exists 0. intros x [u [_ ->]]. generalize (squares_positive n u y). lra.
  - exists (- apart_squared n (fun _ => 0) y), (fun _ => 0). split; [|easy]. intros i I. specialize (d_positive i I). lra.
Qed.
Let least : R := - proj1_sig greatest.

Lemma least_is_least u : on_chain n d u -> least <= apart_squared n u y.
Proof. intros U. unfold least. destruct (proj2_sig greatest) as [B _]. specialize (B _ (ex_intro _ u (conj U eq_refl))). lra. Qed.

Lemma least_positive : 0 <= least.
Proof.
  unfold least. destruct (proj2_sig greatest) as [_ B]. assert (proj1_sig greatest <= 0); [|lra]. apply B. intros x [u [_ ->]].
  generalize (squares_positive n u y). lra.
Qed.

(** Fits within e^2 of the least value. *)
Let near (e : R) (u : nat -> R) : Prop := on_chain n d u /\ apart_squared n u y <= least + e ^ 2.

Lemma near_exists e : 0 < e -> exists u, near e u.
Proof.
  intros E. apply Classical_Prop.NNPP. intros N. assert (P : 0 < e ^ 2) by (now apply pow_lt). destruct (proj2_sig greatest) as [_ B].
  assert (proj1_sig greatest <= - (least + e ^ 2)); [|unfold least in *; lra]. apply B. intros x [u [U ->]].
  destruct (Rle_lt_dec (apart_squared n u y) (least + e ^ 2)) as [L|L]; [|lra]. exfalso. apply N. exists u. now split.
Qed.

Lemma near_each_other e u v i : 0 < e -> near e u -> near e v -> (i <= n)%nat -> - (2 * e) <= u i - v i <= 2 * e.
Proof.
  intros E [U A] [V B] I. destruct (halfway n d u v y U V) as [H K]. generalize (least_is_least _ H) (one_of_many n u v i I). intros L O.
  assert (Q : (u i - v i) ^ 2 <= (2 * e) ^ 2) by lra. generalize (pow2_ge_0 (u i - v i)). split; nra.
Qed.

Lemma nearer e e' u : 0 < e <= e' -> near e u -> near e' u.
Proof. intros E [U A]. split; [easy|]. assert (e ^ 2 <= e' ^ 2) by (apply pow_incr; lra). lra. Qed.

Let below (i : nat) (x : R) : Prop := (i <= n)%nat /\ (exists e, 0 < e /\ forall u, near e u -> x <= u i) \/ (n < i)%nat /\ x = 0.
Let limit (i : nat) : { m | is_lub (below i) m }.
Proof.
  apply completeness.
  - destruct (near_exists 1 ltac:(lra)) as [u U]. exists (Rmax 0 (u i + 2)). intros x [[I [e [E H]]]|[_ ->]]; [|apply Rmax_l].
    assert (M : 0 < Rmin e 1) by (apply Rmin_glb_lt; lra). destruct (near_exists _ M) as [v V].
    generalize (Rmin_l e 1) (Rmin_r e 1) (Rmax_r 0 (u i + 2)). intros A B C. specialize (H v (nearer _ e v (conj M A) V)).
    generalize (near_each_other 1 v u i ltac:(lra) (nearer _ 1 v (conj M B) V) U I). lra.
  - destruct (le_lt_dec i n) as [I|I]; [|exists 0; right; now split]. destruct (near_exists 1 ltac:(lra)) as [u U]. exists (u i - 2). left. split; [easy|].
    exists 1. split; [lra|]. intros v V. generalize (near_each_other 1 v u i ltac:(lra) V U I). lra.
Qed.
Let f (i : nat) : R := proj1_sig (limit i).

Lemma limit_near e u i : 0 < e -> near e u -> (i <= n)%nat -> - (2 * e) <= f i - u i <= 2 * e.
Proof.
  intros E U I. unfold f. destruct (proj2_sig (limit i)) as [B L]. split.
  - assert (u i - 2 * e <= proj1_sig (limit i)); [|lra]. apply B. left. split; [easy|]. exists e. split; [easy|]. intros v V.
    generalize (near_each_other e v u i E V U I). lra.
  - assert (proj1_sig (limit i) <= u i + 2 * e); [|lra]. apply L. intros x [[_ [e' [E' H]]]|[J _]]; [|lia].
    assert (M : 0 < Rmin e e') by (now apply Rmin_glb_lt). destruct (near_exists _ M) as [v V].
    specialize (H v (nearer _ e' v (conj M (Rmin_r e e')) V)). generalize (near_each_other e v u i E (nearer _ e v (conj M (Rmin_l e e')) V) U I). lra.
Qed.

Lemma limit_on_chain : on_chain n d f.
Proof.
  intros i I. assert (H : forall e, 0 < e -> - e <= f (S i) - f i <= d i + e).
  { intros e E. destruct (near_exists (e / 4) ltac:(lra)) as [u U].
    generalize (limit_near (e / 4) u i ltac:(lra) U ltac:(lia)) (limit_near (e / 4) u (S i) ltac:(lra) U I).
    destruct U as [U _]. generalize (U i I). lra. }
  split; apply le_epsilon; intros e E; generalize (H e E); lra.
Qed.

Lemma limit_least : apart_squared n f y <= least.
Proof.
  set (K := least + 2 + 8 * INR (S n)). generalize least_positive (pos_INR (S n)). intros P Q. assert (K0 : 0 < K) by (unfold K; lra).
  apply le_epsilon. intros eps E. set (t := Rmin 1 (eps / K)). assert (X : 0 < eps / K) by (now apply Rdiv_lt_0_compat).
  assert (T : 0 < t <= 1) by (unfold t; split; [apply Rmin_glb_lt; lra | apply Rmin_l]).
  assert (TK : t * K <= eps).
  { apply Rle_trans with (eps / K * K); [apply Rmult_le_compat_r; [lra | apply Rmin_r] | apply Req_le; field; lra]. }
  destruct (near_exists t (proj1 T)) as [u U].
  assert (A : apart_squared n f y <= (1 + t) * apart_squared n u y + (1 + / t) * (INR (S n) * (4 * t ^ 2))).
  { unfold apart_squared. rewrite <- upto_constant, <- !upto_scale, <- upto_add. apply upto_le. intros i I.
    generalize (limit_near t u i (proj1 T) U I). set (b := f i - u i). set (a := u i - y i). intros B.
    replace (f i - y i) with (a + b) by (unfold a, b; ring).
    assert (B2 : b ^ 2 <= 4 * t ^ 2) by nra. assert (I0 : 0 < / t) by (apply Rinv_0_lt_compat; lra).
    assert (S0 : 0 <= (t * a - b) ^ 2 * / t) by (apply Rmult_le_pos; [apply pow2_ge_0 | lra]).
    replace ((t * a - b) ^ 2 * / t) with (t * a ^ 2 - 2 * a * b + / t * b ^ 2) in S0 by (field; lra).
    assert ((1 + / t) * b ^ 2 <= (1 + / t) * (4 * t ^ 2)) by (apply Rmult_le_compat_l; lra). lra. }
  destruct U as [_ U]. apply Rle_trans with (1 := A).
  replace ((1 + / t) * (INR (S n) * (4 * t ^ 2))) with (4 * INR (S n) * (t ^ 2 + t)) by (field; lra).
  assert (t ^ 2 <= t) by nra. assert ((1 + t) * apart_squared n u y <= (1 + t) * (least + t ^ 2)) by (apply Rmult_le_compat_l; lra).
  assert (4 * INR (S n) * (t ^ 2 + t) <= 4 * INR (S n) * (t + t)) by (apply Rmult_le_compat_l; lra).
  assert (t * t ^ 2 <= t) by nra. unfold K in TK. lra.
Qed.

Lemma nearest_exists : exists f, nearest n d y f.
Proof. exists f. split; [exact limit_on_chain|]. intros u U. apply Rle_trans with (1 := limit_least), least_is_least, U. Qed.
End Exists.

Lemma nearest_unique n d y u v i : nearest n d y u -> nearest n d y v -> (i <= n)%nat -> u i = v i.
Proof.
  intros [U A] [V B] I. destruct (halfway n d u v y U V) as [H K]. generalize (A _ H) (B _ H) (A _ V) (B _ U) (one_of_many n u v i I). intros.
  apply Rminus_diag_uniq, Rsqr_0_uniq. generalize (pow2_ge_0 (u i - v i)). unfold Rsqr. lra.
Qed.

(** For every chain there is one nearest fit, and it stays where the labels are. *)
Theorem KK_LPAV_exists n d y : (forall i, (i < n)%nat -> 0 <= d i) -> exists f, nearest n d y f /\
  (forall u, nearest n d y u -> forall i, (i <= n)%nat -> u i = f i) /\
  forall a b, (forall i, (i <= n)%nat -> a <= y i <= b) -> forall i, (i <= n)%nat -> a <= f i <= b.
Proof.
  intros D. destruct (nearest_exists n d y D) as [f F]. exists f. split; [easy|]. split; [intros u U i I; now apply (nearest_unique n d y)|].
  intros a b Y i I. set (g := fun j => Rmax a (Rmin b (f j))).
  assert (AB : a <= b) by (generalize (Y i I); lra).
  assert (G : forall j, a <= g j <= b) by (intros j; unfold g; split; [apply Rmax_l | apply Rmax_lub; [easy | apply Rmin_l]]).
  assert (N : nearest n d y g).
  { destruct F as [F L]. split.
    - intros j J. generalize (F j J). unfold g, Rmax, Rmin. destruct (Rle_dec b (f j)), (Rle_dec b (f (S j))); repeat destruct (Rle_dec _ _); lra.
    - intros u U. apply Rle_trans with (2 := L u U). apply upto_le. intros j J. generalize (Y j J). intros.
      unfold g, Rmax, Rmin. destruct (Rle_dec b (f j)); repeat destruct (Rle_dec _ _); nra. }
  rewrite <- (nearest_unique n d y g f i N F I). apply G.
Qed.
